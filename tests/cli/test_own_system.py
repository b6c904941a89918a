"""A file of a system of one's own: it runs as it is begun, and faults are named by their line."""

from pathlib import Path

import numpy as np
import pytest

from earshot.__main__ import COMMANDS, main
from earshot.cli import own_system
from earshot.media.audio.load import wav_bytes
from earshot.systems.registry import TASKS, load_board


@pytest.mark.parametrize("task", TASKS)
def test_new_file_runs_at_once(
    task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "my_own.py"
    own_system.new([task, str(file)])
    (system,) = load_board(tmp_path).systems
    assert (system.task, system.name, system.label) == (task, "my-own", "My own")
    own_system.check([str(file)])
    lines = capsys.readouterr().out.splitlines()
    assert f"my-own, for {task}:" in lines
    assert sum(line.startswith("  ") for line in lines) >= own_system.N_INPUTS
    assert lines[-1].startswith("It can be used")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = (", "SyntaxError in mine.py, line 1"),
        ("import nowhere_at_all", "ModuleNotFoundError in mine.py, line 1"),
        ("x = 1", "registers no system"),
        (None, "There is no file"),
    ],
)
def test_file_without_a_system_is_named(
    text: str | None, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    if text is not None:
        file.write_text(text)
    with pytest.raises(SystemExit) as left:
        own_system.check([str(file)])
    assert sentence in str(left.value.code)


def test_faults_are_named_by_their_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    own_system.new(["voice_conversion", str(file)])
    text = file.read_text().replace("SEMITONES[target]", "SEMITONES[target + 1]")
    file.write_text(text)
    line = 1 + next(i for i, row in enumerate(text.splitlines()) if "target + 1" in row)
    with pytest.raises(SystemExit, match="3 of the checks failed"):
        own_system.check([str(file)])
    assert f"Mine failed: TypeError in mine.py, line {line}." in capsys.readouterr().out


def test_nothing_is_written_over(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("work of a week")
    with pytest.raises(SystemExit, match="there already"):
        own_system.new(["words", str(file)])
    assert file.read_text() == "work of a week"
    for name in ("mine.txt", "no/where.py", "-.py"):
        with pytest.raises(SystemExit):
            own_system.new(["words", str(tmp_path / name)])


def test_name_of_ours_is_refused(tmp_path: Path) -> None:
    """Else the app, which has ours, would refuse what was checked."""
    file = tmp_path / "continuous.py"
    own_system.new(["voice_conversion", str(file)])
    with pytest.raises(SystemExit, match="calls its system continuous, as one of ours is"):
        own_system.check([str(file)])


OTHERS = """
from earshot.systems.registry import system

@system("voice_conversion", "anybody")
class Anybody:
    def voice_from(self, waveform, sample_rate):
        return [len(waveform)]

    def __call__(self, waveform, sample_rate, target):
        return waveform * (target[0] > 0), sample_rate

@system("words", "apart")
class Apart:
    def encode(self, waveform, sample_rate):
        return len(waveform)

    def distances(self, queries, words):
        return DISTANCES
"""


@pytest.mark.parametrize(
    ("distances", "sentence"),
    [
        ("[[abs(q - w) for w in words] for q in queries]", "  distances: 0, "),
        ("5", "  distances: apart returned int, and no distances (1, N)."),
    ],
)
def test_systems_of_other_kinds_are_checked_as_they_are_used(
    distances: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of voices of recordings is given one, and what compares words compares some."""
    file = tmp_path / "mine.py"
    file.write_text(OTHERS.replace("DISTANCES", distances))
    if distances == "5":
        with pytest.raises(SystemExit, match="1 of the checks failed"):
            own_system.check([str(file)])
    else:
        own_system.check([str(file)])
    assert sentence in capsys.readouterr().out


BEFORE = """
from earshot.systems.adapters import Precomputed
from earshot.systems.registry import system

for task, folder in (("voice_conversion", "speech"), ("words", "vectors")):
    system(task, "before")(lambda folder=folder: Precomputed({folder!r} + "/" + folder))
"""


def test_results_made_before_are_checked_by_their_own_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("speech", "vectors"):
        (tmp_path / folder).mkdir()
    (tmp_path / "speech" / "anything__TF2.wav").write_bytes(wav_bytes(np.ones(9000) / 3, 9000))
    np.save(tmp_path / "vectors" / "any.npy", np.ones(5))
    file = tmp_path / "mine.py"
    file.write_text(BEFORE.replace("{folder!r}", repr(str(tmp_path))))
    own_system.check([str(file)])
    out = capsys.readouterr().out
    assert "anything__TF2: 1.0 s at 48000 Hz" in out and "any: 5 numbers" in out
    np.save(tmp_path / "vectors" / "any.npy", np.full(5, np.nan))
    with pytest.raises(SystemExit, match="1 of the checks failed"):
        own_system.check([str(file)])


def test_commands_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """To those who ask for help, and to those who call one otherwise."""
    monkeypatch.setattr("sys.argv", ["earshot", "--help"])
    with pytest.raises(SystemExit) as left:
        main()
    help_text = capsys.readouterr().out
    assert left.value.code == 0 and "--port" in help_text
    assert all(f"earshot {command} " in help_text for command in COMMANDS)
    monkeypatch.setattr("sys.argv", ["earshot", "voice_conversion", "in.wav"])
    with pytest.raises(SystemExit, match="no command voice_conversion, only convert, live, words"):
        main()
