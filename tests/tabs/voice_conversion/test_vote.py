"""How the blind vote stands, told to who has voted and to nobody else."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from earshot.core.errors import InputError
from earshot.study.library import VOTE, TestLibrary
from earshot.tabs import listening_tests
from earshot.tabs.voice_conversion.panels import VOTE_LABELS, VotePanel, _standing, _voted


@pytest.fixture
def tests(tmp_path: Path) -> Iterator[TestLibrary]:
    opened = listening_tests.opened(tmp_path, None)
    yield opened
    opened.store.engine.dispose()


def cast(tests: TestLibrary, token: str, prefer: str) -> list[Any]:
    """Answers all items of a new rater: the system preferred wherever it is heard, else A."""
    test = tests.open(VOTE.name).test
    items = tests.store.enrol(test, token).items
    for item in items:
        answer = "b" if item.systems[1] == prefer else "a"
        tests.store.answer(test, token, item.order, answer, [1, 1], 5000)
    return list(items)


def test_vote_is_test_of_named_systems(tests: TestLibrary) -> None:
    test = tests.open(VOTE.name).test
    assert set(test.systems) == set(VOTE_LABELS)
    assert len(test.trials) == 24 and test.trials_per_rater == 6


def test_panel_runs_its_own_event(tests: TestLibrary) -> None:
    """Its script defines the event, which Gradio does not know."""
    with gr.Blocks() as page:
        VotePanel(tests)
    assert [fn.targets[0][1] for fn in page.fns.values()] == ["score"]


def test_systems_are_told_after_vote_only(tests: TestLibrary) -> None:
    test = tests.open(VOTE.name).test
    rater = tests.store.enrol(test, "somebody")
    for who, order in (("somebody", 0), ("stranger", 0), (None, 0), ("somebody", "0")):
        with pytest.raises(InputError, match="Vote first"):
            _voted(tests, who, order)
    tests.store.answer(test, "somebody", 0, "a", [1, 1], 5000)
    item, _ = _voted(tests, "somebody", 0)
    assert item == rater.items[0]


def test_standing_counts_every_vote_on_pair(tests: TestLibrary) -> None:
    """It tells an interval."""
    test = tests.open(VOTE.name).test
    items = [item for rater in range(12) for item in cast(tests, f"rater {rater}", "continuous")]
    pair = next(item for item in items if set(item.systems) == {"continuous", "units-64"})
    votes = sum(set(item.systems) == set(pair.systems) for item in items)
    standing = _standing(tests, test, pair)
    assert f"<b>continuous content</b> is preferred in <b>100%</b> of <b>{votes}</b>" in standing
    other = next(item for item in items if set(item.systems) == {"units-512", "units-64"})
    assert "95 % interval" in _standing(tests, test, other)


def test_standing_of_one_vote_lacks_interval(tests: TestLibrary) -> None:
    test = tests.open(VOTE.name).test
    item = cast(tests, "somebody", "continuous")[0]
    assert "an interval takes" in _standing(tests, test, SimpleNamespace(systems=item.systems))  # type: ignore[arg-type]
