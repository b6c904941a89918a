"""A test that is frozen before anybody rates."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from earshot.core.errors import InputError
from earshot.study import preregistration
from earshot.study.__main__ import main
from earshot.study.analysis.report.method import plan
from earshot.study.design.spec import load
from earshot.study.simulation import simulate
from earshot.study.storage.store import Store
from tests.support.stimuli import make_folder, noise
from tests.support.studies import enrol, make_test


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["study", *map(str, arguments)])
    main()


def test_frozen_test_says_what_changed(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t", raters=10)
    assert preregistration.describe_changes(load(folder)) == ""
    preregistration.freeze(load(folder))
    assert "nothing was changed since" in preregistration.describe_changes(load(folder))
    with pytest.raises(InputError, match="frozen once"):
        preregistration.freeze(load(folder))
    make_folder(folder, raters=12, question="Is it good?")
    noise(folder / "ours" / "one.wav", level=0.02)
    assert "changed since: question, raters, sounds." in preregistration.describe_changes(
        load(folder)
    )
    file = folder / preregistration.FILE
    file.write_text(file.read_text().replace('"raters": 10', '"raters": 12'))
    assert "itself was changed" in preregistration.describe_changes(load(folder))


def test_begun_test_is_not_frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(tmp_path / "t")
    enrol(Store(url := f"sqlite:///{tmp_path / 'elsewhere.db'}"), load(folder))
    with pytest.raises(SystemExit, match="begun"):
        run(monkeypatch, "freeze", folder, "--database", url)
    enrol(Store(f"sqlite:///{folder / 'answers.db'}"), load(folder))
    with pytest.raises(SystemExit, match="begun"):
        run(monkeypatch, "freeze", folder)
    assert not preregistration.frozen(load(folder))


@pytest.mark.parametrize(("design", "same"), [("acr", True), ("abx", False)])
def test_plan_tells_p_from_interval(design: str, same: bool) -> None:
    """It says of which design a p is that of the interval."""
    paragraphs = " ".join(plan(make_test(design)))
    assert ("Each p is that of the interval" in paragraphs) is same
    assert ("is not that of its interval" in paragraphs) is not same


def test_frozen_results_are_shown_when_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_folder(tmp_path / "t")
    run(monkeypatch, "freeze", folder)
    assert "nothing was changed" in capsys.readouterr().out
    store, test = Store(f"sqlite:///{folder / 'answers.db'}"), load(folder)
    enrol(store, test)
    with pytest.raises(SystemExit, match="shown when it is closed"):
        run(monkeypatch, "analyse", folder)
    store.close(test.name)
    run(monkeypatch, "analyse", folder)
    assert "Frozen on" in capsys.readouterr().out and store.looks(test) == []


def test_analysis_before_end_is_recorded_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_folder(tmp_path / "t")
    store, test = Store(f"sqlite:///{folder / 'answers.db'}"), load(folder)
    enrol(store, test)
    for _ in range(2):
        run(monkeypatch, "analyse", folder, "--overwrite")
    assert store.looks(test) == [0]


@pytest.mark.parametrize(
    ("design", "more", "sentences"),
    [
        (
            "acr",
            {"raters": 24, "trials": 4, "rules": {"failed_checks": False, "headphones": False}},
            (
                "absolute category ratings",
                "Excellent (5)",
                "3 stimuli by 24 raters, each of whom gets 4 trials of 6",
                "It ends when 24 have finished",
                "A difference of two systems is tested by its t",
                "ours against theirs.",
                "with all their answers for: a median answer time under 33",
            ),
        ),
        (
            "ab",
            {"pairing": "adaptive", "closes": "2031-01-31T18:00Z"},
            (
                "paired preferences",
                "expected information",
                "any number of raters",
                "It ends on 2031-01-31",
                "Bradley and Terry",
            ),
        ),
        (
            "mushra",
            {"panel": {"link": ["ID"], "screened_out": {"headphones": "https://panel/h"}}},
            (
                "MUSHRA (ITU-R BS.1534-3)",
                "Bad (20) (the upper ends of intervals of a line from 0 to 100)",
                "one from the hidden reference, which is there to be found, is not tested",
                "the hidden reference rated below 90",
                "Raters cannot go on where the headphone check is failed.",
            ),
        ),
    ],
)
def test_plan_says_what_will_be_computed(
    design: str, more: dict[str, Any], sentences: tuple[str, ...], tmp_path: Path
) -> None:
    file = preregistration.freeze(load(make_folder(tmp_path / "t", design, **more)))
    plan = " ".join(json.loads(file.read_text())["plan"])
    assert [text for text in sentences if text not in plan] == []


def test_plan_that_was_changed_is_noticed(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t")
    file = preregistration.freeze(load(folder))
    file.write_text(file.read_text().replace("by its t", "by eye"))
    assert "itself was changed" in preregistration.describe_changes(load(folder))


def test_comparison_before_end_is_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a look at both tests, and a frozen one is not compared until it is closed."""
    folders = [make_folder(tmp_path / name) for name in ("one", "two", "frozen")]
    store, tests = Store(f"sqlite:///{tmp_path / 'answers.db'}"), [*map(load, folders)]
    preregistration.freeze(tests[2])
    for seed, test in enumerate(tests):
        simulate(test, store, 3, seed)
    out = ["--overwrite", "--out", tmp_path / "both.html"]
    run(monkeypatch, "compare", folders[0], folders[1], *out)
    assert [store.looks(test) for test in tests] == [[3], [3], []]
    with pytest.raises(SystemExit, match="shown when it is closed"):
        run(monkeypatch, "compare", folders[2], folders[1], *out)
    store.close("frozen")
    run(monkeypatch, "compare", folders[2], folders[1], *out)
    assert [store.looks(test) for test in tests] == [[3], [3], []]


def test_export_before_end_is_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ratings of a frozen test are kept back."""
    folder = make_folder(tmp_path / "t")
    store, test = Store(f"sqlite:///{folder / 'answers.db'}"), load(folder)
    enrol(store, test)
    run(monkeypatch, "export", folder, "--overwrite")
    assert store.looks(test) == [0]
    preregistration.freeze(test)
    with pytest.raises(SystemExit, match="shown when it is closed"):
        run(monkeypatch, "export", folder, "--overwrite")
