"""A comparison: what is written where, what a failure is, and what outlives a kill."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS, ROOT
from earshot.exports.comparison import LUFS, Comparison, Convert, Item
from earshot.exports.measures import FILE, read
from earshot.exports.page import write_page
from earshot.media.audio.load import load, loudness, wav_bytes
from earshot.media.video import frames
from earshot.pretrained.judges import Judge
from earshot.study.design import spec
from earshot.study.sounds.stimuli import check

RATE: Final = 16_000


def tone(seconds: float = 0.5, pitch: float = 200.0) -> np.ndarray:
    time = np.arange(round(seconds * RATE)) / RATE
    return (0.1 * np.sin(2 * np.pi * pitch * time)).astype(np.float32)


def inputs(folder: Path, *names: str) -> list[Item]:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / f"{name}.wav").write_bytes(wav_bytes(tone(), RATE))
    return [Item.of(folder / f"{name}.wav") for name in names]


def louder(gain: float) -> Callable[[], Convert]:
    """A system that changes the level only."""
    return lambda: lambda file, target: (gain * load(file, RATE).waveform, RATE)


LENGTH: Final = Judge("length", "Clock", "1", "", lambda result, source, target: len(result) / RATE)


def test_results_are_a_listening_test_and_a_page(tmp_path: Path) -> None:
    items = inputs(tmp_path / "in", "one", "two")
    targets = [Item.of("TF2"), *inputs(tmp_path / "clips", "clip")]
    systems = {"ours": louder(0.1), "mine": louder(2.0)}
    assert Comparison(tmp_path / "out", "t", systems, items, targets, [LENGTH]).run() == 0
    names = ["one__TF2", "one__clip", "two__TF2", "two__clip"]
    for folder in ("ours", "mine", "source"):
        assert sorted(path.stem for path in (tmp_path / "out" / folder).iterdir()) == names
    assert sorted(path.stem for path in (tmp_path / "out" / "target").iterdir()) == names[1::2]
    test = spec.load(tmp_path / "out")
    assert check(test) == []
    assert {*test.systems} == {"ours", "mine"}
    assert write_page(tmp_path / "out", tmp_path / "site") == [
        "target/one__TF2: There is no such sound.",
        "target/two__TF2: There is no such sound.",
    ]
    page = (tmp_path / "site" / "index.html").read_text()
    assert "all are equally loud (−23 LUFS)" in " ".join(page.split())
    text = (tmp_path / "out" / "measures.md").read_text()
    assert "-23 LUFS" in text and "length" in text and "| mine | " in text


def test_all_results_are_equally_loud(tmp_path: Path) -> None:
    systems = {"ours": louder(0.01), "mine": louder(3.0)}
    Comparison(tmp_path / "out", "t", systems, inputs(tmp_path / "in", "a"), [Item.of("TF2")]).run()
    for path in (tmp_path / "out").glob("*/*.wav"):
        assert loudness(load(path, RATE).waveform, RATE) == pytest.approx(LUFS, abs=0.1)


def test_results_with_peaks_bring_all_down(tmp_path: Path) -> None:
    """A click whose peak allows no more than -23 LUFS would be quieter than the rest."""
    click = tone(0.5) * 0.05
    click[4000:4010] = 0.9
    systems = {"ours": louder(1.0), "clicks": lambda: lambda *_: (click, RATE)}
    items = inputs(tmp_path / "in", "a")
    Comparison(tmp_path / "out", "t", systems, items, [Item.of("TF2")]).run()
    sounds = [load(path, RATE).waveform for path in (tmp_path / "out").glob("*/*.wav")]
    levels = [loudness(sound, RATE) for sound in sounds]
    assert levels[0] < LUFS - 1 and np.ptp(levels) < 0.2
    assert check(spec.load(tmp_path / "out")) == []


def crash(file: Path, target: object) -> tuple[np.ndarray, int]:
    raise ZeroDivisionError("by zero")


def refuse(file: Path, target: object) -> tuple[np.ndarray, int]:
    raise InputError("It has no such voice.")


@pytest.mark.parametrize(
    ("convert", "reason"),
    [
        (crash, "ZeroDivisionError: by zero"),
        (refuse, "It has no such voice."),
        (lambda *_: (np.zeros(RATE), RATE), "silent"),
        (lambda *_: (np.full(RATE, np.nan), RATE), "NaN"),
        (lambda *_: (np.zeros((0,)), RATE), "shape"),
        (lambda *_: (np.zeros((RATE, 2)), RATE), "shape"),
        (lambda *_: None, "TypeError"),
    ],
)
def test_failure_is_a_row_and_not_the_end(tmp_path: Path, convert: Convert, reason: str) -> None:
    items = inputs(tmp_path / "in", "one", "two")
    systems = {"theirs": lambda: convert, "ours": louder(1.0)}
    comparison = Comparison(tmp_path / "out", "t", systems, items, [Item.of("TF2")])
    assert comparison.run() == 2
    rows = [row for row in read(tmp_path / "out" / FILE) if row.system == "theirs"]
    assert [(row.name, row.measure) for row in rows] == [("one__TF2", ""), ("two__TF2", "")]
    assert reason in rows[0].error
    assert len([*(tmp_path / "out" / "ours").iterdir()]) == 2
    assert not (tmp_path / "out" / "theirs").exists()


def test_system_that_does_not_load_is_a_failure_of_its_own(tmp_path: Path) -> None:
    def load_nothing() -> Convert:
        raise ModuleNotFoundError("no module named mine")

    systems = {"mine": load_nothing, "ours": louder(1.0)}
    items = inputs(tmp_path / "in", "one")
    assert Comparison(tmp_path / "out", "t", systems, items, [Item.of("TF2")]).run() == 1
    assert "no module named mine" in (tmp_path / "out" / FILE).read_text("utf-8-sig")


def test_failing_judge_leaves_the_result(tmp_path: Path) -> None:
    def score(*_: object) -> float:
        raise RuntimeError("out of memory")

    judge = Judge("dnsmos", "DNSMOS", "1", "", score)
    items = inputs(tmp_path / "in", "one")
    assert Comparison(tmp_path / "out", "t", {"ours": louder(1.0)}, items, [], [judge]).run() == 0
    rows = {row.measure: row for row in read(tmp_path / "out" / FILE)}
    assert rows["dnsmos"].error == "RuntimeError: out of memory" and rows["seconds"].value
    assert (tmp_path / "out" / "ours" / "one.wav").exists()


def test_result_is_converted_once_until_its_input_changes(tmp_path: Path) -> None:
    calls: list[str] = []

    def convert(file: Path, target: object) -> tuple[np.ndarray, int]:
        calls.append(file.stem)
        return load(file, RATE).waveform, RATE

    def run() -> None:
        items = [Item.of(path) for path in sorted((tmp_path / "in").iterdir())]
        Comparison(tmp_path / "out", "t", {"ours": lambda: convert}, items, [Item.of("TF2")]).run()

    inputs(tmp_path / "in", "one", "two")
    run()
    run()
    assert calls == ["one", "one", "two"]  # the first once more, for what was loaded takes time
    (tmp_path / "in" / "two.wav").write_bytes(wav_bytes(tone(pitch=300), RATE))
    (tmp_path / "out" / "test.yaml").write_text("title: mine")
    run()
    assert calls[3:] == ["two", "two"]
    source = load(tmp_path / "out" / "source" / "two__TF2.wav", RATE).waveform
    assert np.argmax(np.abs(np.fft.rfft(source))) == 150  # 300 Hz for half a second
    assert (tmp_path / "out" / "test.yaml").read_text() == "title: mine"


def test_names_stay_apart_and_strangers_files_untouched(tmp_path: Path) -> None:
    items = inputs(tmp_path / "in", "one")
    systems, targets = {"ours": louder(1.0)}, [Item.of("TF2")]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        Comparison(tmp_path / "out", "t", systems, items, targets).run()
    with pytest.raises(InputError, match="Two files would be called one"):
        Comparison(tmp_path / "new", "t", systems, [*items, *items], targets).run()
    for name in ("source", "measures.csv"):
        with pytest.raises(InputError, match=f"cannot be called “{name}”"):
            Comparison(tmp_path / "new", "t", {name: louder(1.0)}, items, targets).run()
    with pytest.raises(InputError, match="letters, digits"):
        Comparison(tmp_path / "a b", "t", systems, items, targets).run()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("name", ["a*b__c?", "ü" * 100, "..", "<script>", "x\udcff", "😀"])
def test_name_of_any_letters_becomes_that_of_a_file(tmp_path: Path, name: str) -> None:
    item = inputs(tmp_path / "in", "one")[0]
    item = Item.of(Path(str(item.value)), name)
    systems, targets = {"ours": louder(1.0), "mine": louder(2.0)}, [Item.of("TF2")]
    assert Comparison(tmp_path / "out", "t", systems, [item], targets).run() == 0
    assert len([*(tmp_path / "out" / "ours").iterdir()]) == 1
    spec.load(tmp_path / "out")


KILLED: Final = """
import os, signal, sys
from pathlib import Path
from earshot.exports.comparison import Comparison, Item
from earshot.media.audio.load import load

folder, most = Path(sys.argv[1]), int(sys.argv[2])
calls = []

def convert(file, target):
    calls.append(file)
    if len(calls) > most:
        os.kill(os.getpid(), signal.SIGKILL)
    return load(file, 16_000).waveform, 16_000

systems = {name: lambda: convert for name in ("ours", "mine")}
items = [Item.of(path) for path in sorted((folder / "in").iterdir())]
comparison = Comparison(folder / "out", "t", systems, items, [Item.of("TF2"), Item.of("SM1")])
comparison.run()
print(len(calls))
"""


@pytest.mark.slow
def test_comparison_that_is_killed_twice_goes_on(tmp_path: Path) -> None:
    """A kill loses no more than the second before it, and leaves no half a file."""
    inputs(tmp_path / "in", "one", "two", "three")

    def run(most: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", KILLED, str(tmp_path), str(most)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)

    for most in (3, 4):
        assert run(most).returncode == -signal.SIGKILL
        for path in (tmp_path / "out").glob("*/*.wav"):
            assert load(path, RATE).seconds == pytest.approx(0.5)
    (tmp_path / "out" / "ours" / f".{'0' * 16}.tmp").write_bytes(b"half")
    finished = run(100)
    assert finished.returncode == 0, finished.stderr
    assert int(finished.stdout) < 12 + 2
    rows = read(tmp_path / "out" / FILE)
    assert len({(row.system, row.name) for row in rows if row.measure == "seconds"}) == 12
    assert len([*(tmp_path / "out").glob("*/*")]) == 12 + 6
    assert not [*(tmp_path / "out").glob("*/.*")]
    assert check(spec.load(tmp_path / "out")) == []


@pytest.mark.slow
def test_results_of_videos_are_rated_with_their_picture(tmp_path: Path) -> None:
    item = Item.of(ASSETS / "heads" / "tom.mp4")
    systems = {"ours": louder(1.0), "mine": louder(0.5)}
    comparison = Comparison(tmp_path / "out", "lips", systems, [item], [], has_pictures=True)
    assert comparison.run() == 0
    test = spec.load(tmp_path / "out")
    assert check(test) == []
    for system in systems:
        video = tmp_path / "out" / system / "tom.mp4"
        assert len([*frames(video, 10.0)]) == len([*frames(ASSETS / "heads" / "tom.mp4", 10.0)])
        sound = load(video.with_suffix(".wav"), RATE).waveform
        track = load(video, RATE).waveform[: len(sound)]
        assert np.corrcoef(track, sound[: len(track)])[0, 1] > 0.95  # and in step
    assert {path.suffix for trial in test.trials for path in trial.sounds.values()} == {".mp4"}
