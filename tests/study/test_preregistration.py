"""A test that is frozen before anybody rates."""

import sys
from pathlib import Path

import pytest

from earshot.core.errors import InputError
from earshot.study import preregistration
from earshot.study.__main__ import main
from earshot.study.design.spec import load
from earshot.study.storage.store import Store
from tests.support.stimuli import make_folder, noise


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["study", *map(str, arguments)])
    main()


def test_frozen_test_says_what_was_changed_since(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t", raters=10)
    assert preregistration.said(load(folder)) == ""
    preregistration.freeze(load(folder))
    assert "nothing was changed since" in preregistration.said(load(folder))
    with pytest.raises(InputError, match="frozen once"):
        preregistration.freeze(load(folder))
    make_folder(folder, raters=12, question="Is it good?")
    noise(folder / "ours" / "one.wav", level=0.02)
    assert "changed since: question, raters, sounds." in preregistration.said(load(folder))
    file = folder / preregistration.FILE
    file.write_text(file.read_text().replace('"raters": 10', '"raters": 12'))
    assert "itself was changed" in preregistration.said(load(folder))


def test_results_of_a_frozen_test_are_shown_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_folder(tmp_path / "t")
    run(monkeypatch, "freeze", folder)
    assert "nothing was changed" in capsys.readouterr().out
    store, test = Store(f"sqlite:///{folder / 'answers.db'}"), load(folder)
    store.enrol(test)
    with pytest.raises(SystemExit, match="shown when it is closed"):
        run(monkeypatch, "analyse", folder)
    store.close(test.name)
    run(monkeypatch, "analyse", folder)
    assert "Frozen on" in capsys.readouterr().out and store.looks(test) == []


def test_analysis_before_the_end_is_a_recorded_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_folder(tmp_path / "t")
    store, test = Store(f"sqlite:///{folder / 'answers.db'}"), load(folder)
    store.enrol(test)
    for _ in range(2):
        run(monkeypatch, "analyse", folder)
    assert store.looks(test) == [0]
