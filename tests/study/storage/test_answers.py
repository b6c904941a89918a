"""Answers of the page: validation, and rows of the tidy table."""

import pytest

from earshot.core.errors import InputError
from earshot.study.design import Answer, Item, Test
from earshot.study.design.scales import MAX_SENTENCE
from earshot.study.storage.answers import check, errors_in, rating_rows
from tests.support.quickness import quickly
from tests.support.studies import make_test


def rate(design: str, order: tuple[str, ...], answer: Answer) -> list[tuple]:
    test = make_test(design, systems=2, stimuli=1)
    plays = list(range(1, 1 + len(order) + (test.trials[0].reference is not None)))
    item = Item(0, 0, order)
    check(test, item, answer, plays)
    ratings = rating_rows(test, item, answer, plays)
    return [(row.system, row.other, row.position, row.answer, row.plays) for row in ratings]


@pytest.mark.parametrize("design", ["acr", "dcr", "similarity", "smos"])
def test_rows_of_single_sound_hold_rating(design: str) -> None:
    plays = 1 if design == "acr" else 3
    assert rate(design, ("y0",), 2) == [("y0", "", 0, 2.0, plays)]


@pytest.mark.parametrize(
    ("order", "answer", "expected"),
    [
        (("y0", "y1"), "a", (0, 1.0)),
        (("y0", "y1"), "b", (0, 0.0)),
        (("y1", "y0"), "a", (1, 0.0)),
        (("y1", "y0"), "b", (1, 1.0)),
        (("y1", "y0"), "same", (1, 0.5)),
    ],
)
def test_rows_of_ab_hold_preference(
    order: tuple[str, str], answer: str, expected: tuple[int, float]
) -> None:
    """It is that for the first system, whichever is shown first."""
    assert rate("ab", order, answer) == [("y0", "y1", *expected, 3)]


@pytest.mark.parametrize(
    ("order", "answer", "expected"),
    [
        (("y0", "y1", "y0"), "a", (0, 1.0)),
        (("y0", "y1", "y1"), "a", (0, 0.0)),
        (("y1", "y0", "y0"), "b", (1, 1.0)),
        (("y1", "y0", "y1"), "b", (1, 0.0)),
    ],
)
def test_rows_of_abx_hold_correctness(
    order: tuple[str, ...], answer: str, expected: tuple[int, float]
) -> None:
    """An answer is one if it is correct."""
    assert rate("abx", order, answer) == [("y0", "y1", *expected, 6)]


def test_rows_of_ccr_compare_with_first() -> None:
    """They rate the second sound against the first."""
    assert rate("ccr", ("y1", "y0"), 3) == [("y0", "y1", 1, 3.0, 3)]
    assert rate("ccr", ("y0", "y1"), 3) == [("y0", "y1", 0, -3.0, 3)]


def test_rows_of_mushra_hold_each_condition() -> None:
    order = ("anchor-7k", "y1", "reference", "y0", "anchor-3.5k")
    ratings = rate("mushra", order, [40, 80, 100, 60, 0])
    assert [row[0] for row in ratings] == list(order)
    assert [row[2:] for row in ratings] == [
        (0, 40, 1), (1, 80, 2), (2, 100, 3), (3, 60, 4), (4, 0, 5)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("design", "answer"),
    [
        ("acr", 0), ("acr", 5.5), ("acr", "5"), ("acr", True), ("acr", [5]), ("ccr", 4),
        ("ab", "c"), ("ab", 1), ("abx", "same"), ("mushra", 50), ("mushra", [50] * 4),
        ("mushra", [50, 50, 50, 50, 101]), ("mushra", [50, 50, 50, 50, -1]), ("similarity", 5),
        ("mushra", [50, 50, 50, 50, True]), ("mushra", [50, 50, 50, 50, 0.5]), ("acr", None),
    ],
)  # fmt: skip
def test_check_of_answer_off_scale_raises(design: str, answer: Answer) -> None:
    test = make_test(design, systems=2, stimuli=1)
    with pytest.raises(InputError, match="Send"):
        check(test, item_of(test), answer, plays_of(test))


def test_check_of_forced_tie_raises() -> None:
    """A tie is no answer where the choice is forced."""
    test = make_test("ab", systems=2, stimuli=1)
    check(test, item_of(test), "same", [1, 1])
    forced = make_test("ab", systems=2, stimuli=1, no_preference=False, words=("A", "B"))
    assert forced.scale == (("a", "A"), ("b", "B"))
    with pytest.raises(InputError, match="Send"):
        check(forced, item_of(forced), "same", [1, 1])


@pytest.mark.parametrize("plays", [[], [1], [1, 1, 1], [1, -1], [1, True], [1, 0.5]])
def test_check_of_mismatched_plays_raises(plays: list[int]) -> None:
    """Each sound must have its number of plays."""
    test = make_test("ab", systems=2, stimuli=1)
    with pytest.raises(InputError, match="2 sounds"):
        check(test, item_of(test), "a", plays)


def item_of(test: Test) -> Item:
    order = tuple(test.trials[0].sounds)
    return Item(0, 0, order + order[:1] if test.design.name == "abx" else order)


def plays_of(test: Test) -> list[int]:
    return [1] * (len(item_of(test).systems) + (test.trials[0].reference is not None))


def test_word_errors_are_counted_quickly() -> None:
    """A test may have a million answers, which are all counted for its report."""
    spoken, written = "一" * MAX_SENTENCE, "二" * MAX_SENTENCE
    with quickly(4):
        assert {errors_in(written, spoken) for _ in range(1000)} == {1.0}
