"""The command line."""

import sys
from pathlib import Path

import pytest

from earshot.study.__main__ import main
from earshot.study.analysis.report import figures
from earshot.study.design import DESIGNS
from earshot.study.design.spec import load
from earshot.study.storage.store import Store
from tests.support.stimuli import make_folder
from tests.support.studies import enrol


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["study", *map(str, arguments)])
    main()


@pytest.mark.parametrize("design", DESIGNS)
def test_new_writes_template_of_each_design(
    design: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a" / "t"
    run(monkeypatch, "new", folder, "--design", design)
    text = (folder / "test.yaml").read_text()
    assert f"design: {design}" in text
    assert (folder / text.split("\n")[0].removeprefix("# yaml-language-server: $schema=")).is_file()
    with pytest.raises(SystemExit, match="is there already"):
        run(monkeypatch, "new", folder)
    with pytest.raises(SystemExit, match="no file fits ours"):
        run(monkeypatch, "check", folder)


def test_check_exits_with_the_problems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_folder(tmp_path / "t", practice=1)
    run(monkeypatch, "check", folder)
    assert capsys.readouterr().out.startswith("t is ready: acr, 2 systems, 6 trials")
    (folder / "ours" / "one.wav").write_text("no sound")
    (folder / "theirs" / "two.wav").unlink()
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, "check", folder / "test.yaml")
    assert caught.value.code not in (0, None)
    problems = str(caught.value).splitlines()
    assert [line.split(":")[0] for line in problems] == ["ours/one.wav", "theirs/two.wav"]


@pytest.mark.parametrize("shared", [False, True])
def test_export_finds_answers_near_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    """They are beside the test or above it."""
    folder = make_folder(tmp_path / "t")
    with pytest.raises(SystemExit, match="name the store with --database"):
        run(monkeypatch, "export", folder)
    test = load(folder)
    store = Store(f"sqlite:///{(tmp_path if shared else folder) / 'answers.db'}")
    rater = enrol(store, test)
    store.answer(test, rater.token, 0, 4, [1], 900)
    run(monkeypatch, "export", folder)
    assert len((folder / "results" / "t.csv").read_text().splitlines()) == 2
    run(monkeypatch, "export", folder, "--out", tmp_path / "out")
    assert (tmp_path / "out" / "t.jsonl").is_file()


def test_export_of_changed_test_exits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test has the name of the old one and another design."""
    folder = make_folder(tmp_path / "t")
    Store(f"sqlite:///{folder / 'answers.db'}").open(load(folder))
    make_folder(folder, "ab")
    with pytest.raises(SystemExit, match="another name"):
        run(monkeypatch, "export", folder)


def test_simulate_rehearses_beside_the_real_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "save", lambda *_: [])  # which takes longer than all else
    folder = make_folder(tmp_path / "t")
    for _ in range(2):
        run(monkeypatch, "simulate", folder, "--raters", 3, "--overwrite")
    rehearsal = folder / "simulated"
    assert "These raters are simulated" in (rehearsal / "report.html").read_text()
    assert len((rehearsal / "t.jsonl").read_text().splitlines()) == 1 + 3
    assert not (folder / "answers.db").exists()


@pytest.mark.parametrize("command", ["import nope.csv", "import .", "new file", "simulate t"])
def test_file_missing_or_obstructing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """chanzuckerberg/cellxgene#1184, incf-nidash/PyNIDM#423: these ended in tracebacks."""
    make_folder(tmp_path / "t")
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    out = ["--out", "file", "--raters", "1"] if command.startswith("simulate") else []
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, *command.split(), *out)
    assert isinstance(caught.value.code, str) and caught.value.code.endswith(".")
