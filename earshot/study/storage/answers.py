"""From what a rater's page sends to rows of the tidy table."""

from collections.abc import Sequence
from dataclasses import dataclass

from earshot.core.errors import InputError
from earshot.study.design import REFERENCE, Answer, Item, Test, Trial


@dataclass(frozen=True)
class Rating:
    """One row: what `system`, shown at position, got; the tidy answer of store.ratings."""

    system: str
    other: str
    position: int
    answer: float
    plays: int
    expected: float | None


@dataclass(frozen=True)
class Lesson:
    """Whether a practice trial was answered rightly, and the answer that is expected: in mushra by
    position, None where nothing is."""

    right: bool
    answer: int | str | list[int | None]


def check(test: Test, item: Item, answer: Answer, plays: Sequence[int]) -> None:
    """Raises InputError for an answer that is not on the scale, or plays that do not fit.

    plays counts how often each position was played, and the open reference last where there is one.
    """
    sounds = len(item.shown) + (test.trials[item.trial].reference is not None)
    if len(plays) != sounds or not all(_is_count(n) for n in plays):
        raise InputError(f"Send how often each of the {sounds} sounds was played.")
    values = [value for value, _ in test.scale]
    if refusal := test.design.refusal(answer, values, len(item.shown)):
        raise InputError(refusal)


def rows(test: Test, item: Item, answer: Answer, plays: Sequence[int]) -> list[Rating]:
    """A row for each condition where a trial shows all, else one row, with the answer that the
    design counts (Design.value)."""
    trial = test.trials[item.trial]
    systems = list(trial.sounds)
    if isinstance(answer, list):
        expected = {systems[0]: trial.expected}
        return [
            Rating(system, "", at, answer[at], plays[at], expected.get(system))
            for at, system in enumerate(item.shown)
        ]
    system, other = systems[0], systems[1] if len(systems) > 1 else ""
    position = item.shown.index(system)
    value = test.design.value(answer, item.shown, system)
    return [Rating(system, other, position, value, sum(plays), trial.expected)]


def expected(test: Test, item: Item) -> Answer | None:
    """What the page sends where the answer is the expected one; None where none is, and in
    mushra, whose checks expect something of one sound only."""
    trial = test.trials[item.trial]
    if trial.expected is None or test.design.together:
        return None
    return test.design.sent(trial.expected, item.shown, next(iter(trial.sounds)))


def lesson(test: Test, item: Item, answer: Answer) -> Lesson | None:
    """What a rater is told after a practice trial whose answer is known; None after any other."""
    trial, wanted = test.trials[item.trial], expected(test, item)
    if trial.kind == "practice" and trial.expected is not None and isinstance(answer, list):
        return _lesson_of_all(trial, item, answer)
    if trial.kind != "practice" or wanted is None or isinstance(wanted, list):
        return None
    off = 0.0
    if isinstance(wanted, int) and isinstance(answer, int):
        off = abs(wanted - answer)
    right = off <= trial.tolerance if isinstance(wanted, int) else answer == wanted
    return Lesson(right, wanted)


def _lesson_of_all(trial: Trial, item: Item, answer: Sequence[int]) -> Lesson:
    """What is known of the first of the sounds, and of the hidden reference, where there is one."""
    known = {REFERENCE: 100, next(iter(trial.sounds)): round(trial.expected or 0)}
    wanted = [known.get(system) for system in item.shown]
    both = zip(wanted, answer, strict=True)
    return Lesson(all(w is None or abs(w - given) <= trial.tolerance for w, given in both), wanted)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
