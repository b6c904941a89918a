"""The command that compares: what it takes for inputs, targets and systems, and what it refuses."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from earshot.cli import compare
from earshot.cli.systems import PluggedConvert
from earshot.core.errors import InputError
from earshot.exports.comparison import Comparison, Item
from earshot.exports.measures import FILE, read
from earshot.media.audio.load import load, wav_bytes
from earshot.systems.plug_in import PlugIn
from earshot.systems.plugged import PluggedConverter
from earshot.systems.registry import Offer

RATE = 16_000


class Converter:
    """A system with one voice, and that of any recording."""

    voices = ("TF2",)

    def voice_from(self, recording: Path) -> str:
        if recording.stem == "short":
            raise InputError("This is too short for a voice.")
        return "TF2"

    def __call__(self, audio: Path, target: str) -> Any:
        waveform = load(audio, RATE).waveform
        return SimpleNamespace(converted=SimpleNamespace(waveform=waveform, sample_rate=RATE))


@pytest.fixture(autouse=True)
def offer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two systems, the default of which is called other than ours."""
    labels = {"continuous": "Continuous", "mine": "Mine"}
    stand_in = Offer(lambda name: Converter(), labels)
    monkeypatch.setattr(compare, "_offer", lambda *_: stand_in)


def record(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    time = np.arange(RATE // 2) / RATE
    path.write_bytes(wav_bytes((0.1 * np.sin(1500 * time)).astype(np.float32), RATE))
    return path


def run(tmp_path: Path, *more: str, systems: str = "ours,mine", targets: str = "TF2") -> None:
    folder, out = str(tmp_path / "in"), str(tmp_path / "out")
    task = ["voice_conversion", "--systems", systems, "--inputs", folder, "--targets", targets]
    compare.main([*task, "-o", out, "--no-judges", *more])


def test_folder_is_converted_by_all_systems_to_all_targets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "in" / "anna" / "one.wav")
    record(tmp_path / "in" / "one.wav")
    (tmp_path / "in" / "notes.txt").write_text("no sound")
    clip = record(tmp_path / "clip.wav")
    run(tmp_path, targets=f"TF2, {clip}")
    names = ["anna-one__TF2", "anna-one__clip", "one__TF2", "one__clip"]
    for system in ("ours", "mine"):
        assert sorted(path.stem for path in (tmp_path / "out" / system).iterdir()) == names
    assert "| ours |" in capsys.readouterr().out


def test_voice_that_a_system_lacks_is_a_failure(tmp_path: Path) -> None:
    record(tmp_path / "in" / "one.wav")
    short = record(tmp_path / "short.wav")
    with pytest.raises(SystemExit, match="no results of 2"):
        run(tmp_path, systems="ours", targets=f"TF2,TF9,{short}")
    errors = [row.error for row in read(tmp_path / "out" / FILE) if row.error]
    assert errors == ["It has no voice TF9, only TF2.", "This is too short for a voice."]


@pytest.mark.parametrize(
    ("systems", "targets", "problem"),
    [
        ("theirs", "TF2", "no system theirs, only ours, continuous, mine"),
        (",", "TF2", "Name systems"),
        ("ours", "", "Name voices"),
        ("ours", "nowhere.wav", "no recording nowhere.wav"),
    ],
)
def test_what_is_not_there_is_named(
    tmp_path: Path, systems: str, targets: str, problem: str
) -> None:
    record(tmp_path / "in" / "one.wav")
    with pytest.raises(SystemExit, match=problem):
        run(tmp_path, systems=systems, targets=targets)
    assert not (tmp_path / "out").exists()


def test_inputs_without_sounds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="There is no"):
        run(tmp_path)
    (tmp_path / "in").mkdir()
    with pytest.raises(SystemExit, match="none of .wav"):
        run(tmp_path)


class Shift:
    """Has voices of its own, and none of ours; its samples are integers."""

    voices = ("lower", "higher")

    def __call__(self, waveform: np.ndarray, sample_rate: int, target: str) -> tuple:
        assert target == "lower"
        return (16_000 * waveform).astype(np.int16), sample_rate


def test_system_with_voices_of_its_own_speaks_in_the_first(tmp_path: Path) -> None:
    """measures.md says so, also where the comparison went on after a kill."""
    source = record(tmp_path / "in.wav")
    for _ in range(2):
        system = PluggedConverter("shift", PlugIn("Shift", Shift, Path(__file__)))
        comparison = Comparison(
            tmp_path / "out",
            "voice_conversion",
            {"shift": lambda system=system: PluggedConvert(system)},
            [Item.of(source)],
            [Item.of("TF2")],
        )
        assert comparison.run() == 0
        notes = (tmp_path / "out" / "measures.md").read_text()
        assert "shift: Shift has no such voice, and speaks as lower." in notes
        assert notes.count("returned integers") == 1


def test_system_with_a_voice_of_ours_lacks_the_others(tmp_path: Path) -> None:
    source = record(tmp_path / "in.wav")
    named = type("Named", (Shift,), {"voices": ("TF2",)})
    system = PluggedConverter("named", PlugIn("Named", named, Path(__file__)))
    with pytest.raises(InputError, match="no voice SM1, only TF2"):
        PluggedConvert(system)(source, "SM1")
