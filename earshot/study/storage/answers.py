"""The answers that a rater's page sends, and the tidy table made of them: a row a rating."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import pandas as pd
from rapidfuzz.distance import Levenshtein
from sqlalchemy import select
from sqlalchemy.orm import Session

from earshot.core.errors import InputError
from earshot.study.assignment import start_of
from earshot.study.design import REFERENCE, Answer, Item, Scale, Test, Trial
from earshot.study.design.designs import COMMENT, FAULTS, One
from earshot.study.design.model import CHECKS
from earshot.study.design.scales import MAX_COMMENT, MAX_SENTENCE, words_in
from earshot.study.storage.raters import item_of
from earshot.study.storage.tables import ItemRow, RaterRow

# Columns, and their names in ItemRow.playback.
PLAYBACK = {
    "dropouts": "dropouts",
    "lost_sound": "lost",
    "stalls": "stalls",
    "hidden": "hidden",
    "device_changes": "changes",
    "rate": "rate",
    "latency": "latency",
}
DECIMALS: Final = 3  # of how far answers lie from others'
MIN_OTHERS: Final = 5  # who have finished, before a rater sees how they lie among them
RATING_COLUMNS = {
    "test": "str",
    "rater": "str",
    "trial": "int64",
    "order": "int64",
    "position": "int64",
    "system": "str",
    "other": "str",
    "stimulus": "str",
    "answer": "float64",
    "kind": "str",
    "expected": "float64",
    "plays": "int64",
    "milliseconds": "int64",
    "frames": "Int64",
    "dropped_frames": "Int64",
    "drift": "Int64",
    **dict.fromkeys(PLAYBACK, "Int64"),
    "headphones": "boolean",
    "environment": "boolean",
    "minutes": "float64",
    "finished": "bool",
    "started": "str",
    "language": "str",
    "scale": "str",
    "text": "str",
}
ADJUSTMENT_COLUMNS = {"start": "Int64"}
STAIRCASE_COLUMNS = {"level": "float64", "unit": "str"}


@dataclass(frozen=True)
class Rating:
    """One row: what `system`, shown at position, got on a scale; the tidy answer of store.ratings,
    NaN of a comment. text: what was written, where raters write."""

    system: str
    other: str
    position: int
    answer: float
    plays: int
    expected: float | None
    scale: str
    text: str = ""


@dataclass(frozen=True)
class Lesson:
    """The lesson of a practice trial: whether it was answered rightly, and the answer that is
    expected: in mushra by position, None where nothing is.
    """

    right: bool
    answer: int | str | list[int | None]


def check(test: Test, item: Item, answer: Answer, plays: Sequence[int]) -> None:
    """Raise InputError for an answer that is not on the scale, or plays that do not fit.

    plays counts how often each position was played, and the open reference last where there is one.
    """
    sounds = len(item.systems) + (test.trials[item.trial].reference is not None)
    if len(plays) != sounds or not all(_is_count(n) for n in plays):
        raise InputError(f"Send how often each of the {sounds} sounds was played.")
    if not test.by_name:
        _check_one(test, item, test.rated[0], answer)
        return
    names = [scale.name for scale in test.rated]
    names += [FAULTS] if test.faults else []
    keys = {*answer} - ({COMMENT} if test.comment else set()) if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or keys != {*names}:
        raise InputError(f"Send an answer to each of {', '.join(names)}.")
    if test.faults:
        _check_faults(test, item, answer[FAULTS])
    for scale in test.rated:
        _check_one(test, item, scale, answer[scale.name])
    _check_text(answer.get(COMMENT, ""), MAX_COMMENT)


def _check_one(test: Test, item: Item, scale: Scale, answer: Answer) -> None:
    if scale.typed:
        _check_text(answer, MAX_SENTENCE, least=1)
        return
    values = [value for value, _ in scale.answers]
    if refusal := test.design.refusal(answer, values, len(item.systems)):
        raise InputError(refusal)


def _check_faults(test: Test, item: Item, answer: Answer) -> None:
    """Raise InputError unless there is a number for each sound, whose bit k is set where fault k
    was ticked."""
    numbers, end = answer if isinstance(answer, list) else [], 2 ** len(test.faults)
    if len(numbers) != len(item.systems) or not all(_is_count(n) and n < end for n in numbers):
        raise InputError(f"Send {len(item.systems)} numbers of ticked faults, below {end}.")


def _check_text(text: object, most: int, least: int = 0) -> None:
    if not isinstance(text, str) or not least <= len(text.strip()) <= most:
        raise InputError(f"Send a text of {least} to {most} characters.")


def rating_rows(test: Test, item: Item, answer: Answer, plays: Sequence[int]) -> list[Rating]:
    """Make a row for each condition where a trial shows all, else one row, with the answer that the
    design counts (Design.value); so for every scale, one for each fault that a sound may have (1
    where it was ticked, else 0; its name is the text), and one more of a comment.

    Of what raters write down, the answer is its share of word errors: see errors_in.
    """
    if not isinstance(answer, dict):
        return _scale_rows(test, item, test.rated[0], answer, plays)
    ratings = [
        row
        for scale in test.rated
        if scale.name in answer
        for row in _scale_rows(test, item, scale, answer[scale.name], plays)
    ]
    ticked_faults = answer.get(FAULTS)
    for at, bits in enumerate(ticked_faults if isinstance(ticked_faults, list) else ()):
        ratings += [
            Rating(item.systems[at], "", at, float(bits >> k & 1), plays[at], None, FAULTS, fault)
            for k, fault in enumerate(test.faults)
        ]
    if comment := answer.get(COMMENT):
        about = ("", "") if test.design.together else (ratings[0].system, ratings[0].other)
        ratings.append(Rating(*about, 0, math.nan, sum(plays), None, COMMENT, str(comment)))
    return ratings


def _scale_rows(
    test: Test, item: Item, scale: Scale, answer: One, plays: Sequence[int]
) -> list[Rating]:
    trial = test.trials[item.trial]
    systems = list(trial.sounds)
    if isinstance(answer, list):
        expected = {systems[0]: trial.expected} if scale.name == test.checked.name else {}
        return [
            Rating(system, "", at, answer[at], plays[at], expected.get(system), scale.name)
            for at, system in enumerate(item.systems)
        ]
    system, other = systems[0], systems[1] if len(systems) > 1 else ""
    about = (system, other, item.systems.index(system))
    if scale.typed:
        text = str(answer)
        value = errors_in(text, test.sentences.get(trial.stimulus, ""))
        return [Rating(*about, value, sum(plays), None, scale.name, text)]
    right = trial.expected if scale.name == test.checked.name else None
    value = test.design.value(answer, item.systems, system)
    return [Rating(*about, value, sum(plays), right, scale.name)]


def errors_in(text: str, sentence: str) -> float:
    """Count the words that were left out, put in or exchanged, as a share of the sentence's words:
    1 at most, so that raters who write much else count no more than those who heard nothing; NaN
    where no sentence is known."""
    spoken = words_in(sentence)
    if not spoken:
        return math.nan
    written = words_in(text)
    if len(written) >= 2 * len(spoken):  # so many are put in, and need not be compared
        return 1.0
    return min(Levenshtein.distance(spoken, written) / len(spoken), 1.0)


def expected(test: Test, item: Item) -> One | None:
    """Find what the page sends where the answer is the expected one; None where none is, and in
    mushra, whose checks expect something of one sound only.
    """
    trial = test.trials[item.trial]
    if trial.expected is None or test.design.together:
        return None
    return test.design.sent(trial.expected, item.systems, next(iter(trial.sounds)))


def lesson(test: Test, item: Item, answer: Answer) -> Lesson | None:
    """Make the lesson after a practice trial whose answer is known; None after any other."""
    trial, target = test.trials[item.trial], expected(test, item)
    if isinstance(answer, dict):
        answer = answer.get(test.checked.name, "")
    if trial.kind == "practice" and trial.expected is not None and isinstance(answer, list):
        return _lesson_of_all(trial, item, answer)
    if trial.kind != "practice" or target is None or isinstance(target, list):
        return None
    off = 0.0
    if isinstance(target, int) and isinstance(answer, int):
        off = abs(target - answer)
    right = off <= trial.tolerance if isinstance(target, int) else answer == target
    return Lesson(right, target)


def _lesson_of_all(trial: Trial, item: Item, answer: Sequence[int]) -> Lesson:
    """Compare the answer with what is known of the first of the sounds, and of the hidden
    reference, where there is one.
    """
    targets_by_system = {REFERENCE: 100, next(iter(trial.sounds)): round(trial.expected or 0)}
    targets = [targets_by_system.get(system) for system in item.systems]
    both = zip(targets, answer, strict=True)
    return Lesson(all(w is None or abs(w - value) <= trial.tolerance for w, value in both), targets)


def among_others(ratings: pd.DataFrame, rater: str, scale: Scale) -> dict[str, Any] | None:
    """Find how the answers of a rater to a scale lie among those of others who have finished; None
    while these are fewer than MIN_OTHERS, so that nobody learns a single one's.

    apart: how far answers lie, on average, from the mean of the others' to the same sounds; higher:
    how much higher they are, on scales of scores. Both are the rater's own value, and the values of
    the others from the least on.
    """
    table: Any = ratings[(ratings["kind"] == "trial") & ratings["finished"]]
    table = table[(table["scale"] == scale.name) & table["answer"].notna()]
    units = table.groupby(["trial", "system"])["answer"]
    several = units.transform("size") > 1
    others = (units.transform("sum") - table["answer"]) / (units.transform("size") - 1)
    gaps = (table["answer"] - others)[several]
    by_rater = {"apart": gaps.abs().groupby(table["rater"]).mean()}
    if scale.scores or scale.typed:
        by_rater["higher"] = gaps.groupby(table["rater"]).mean()
    apart = by_rater["apart"]
    if rater not in apart or len(apart) <= MIN_OTHERS:
        return None
    return {
        name: {"own": values[rater], "others": sorted(values.drop(rater))}
        for name, values in ((name, each.round(DECIMALS)) for name, each in by_rater.items())
    }


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _ratings(test: Test, row: ItemRow) -> list[Rating]:
    """Make the rows of an item: none without an answer, but for a check that was skipped though its
    sound can be had, whose answer is NaN."""
    if row.answer is not None:
        return rating_rows(test, item_of(row), row.answer, row.plays or [])
    trial = test.trials[row.trial] if row.there else None
    if trial is None or trial.kind not in CHECKS or trial.expected is None:
        return []
    return [Rating(row.systems[0], "", 0, math.nan, 0, trial.expected, test.checked.name)]


def design_columns(test: Test) -> dict[str, str]:
    """Return the columns that only tests like this one have, with their types."""
    return (ADJUSTMENT_COLUMNS if test.gain else {}) | (STAIRCASE_COLUMNS if test.staircase else {})


def _design_cells(test: Test, rater: str, row: ItemRow) -> dict[str, Any]:
    """Make the cells of these columns."""
    cells: dict[str, Any] = {"start": start_of(test, rater, row.place)} if test.gain else {}
    if staircase := test.staircase:
        names = (name for name in test.trials[row.trial].sounds if name in staircase.levels)
        cells["level"] = staircase.levels.get(next(names, ""), math.nan)
        cells["unit"] = staircase.unit
    return cells


def ratings_table(session: Session, test: Test) -> pd.DataFrame:
    """Make a table of all ratings of a test, a row each (in mushra a row a condition), with these
    columns:

    test; rater (hash); trial (its id); order (place in the rater's sequence); position (of system
    on the screen, 0 is left or A); system; other (what it was compared with, or ""); stimulus;
    answer (see answers.rows); kind; expected (float or NaN); plays; milliseconds; frames,
    dropped_frames and drift (ms), of trials with pictures, else NA (see ItemRow); dropouts,
    lost_sound (ms), stalls, hidden, device_changes, rate (Hz) and latency (ms), of the device, NA
    where they were not measured (see ItemRow); headphones
    (True, False or NA), and environment, the same of the test of the room; minutes (of the rater so
    far, by the server's clock); finished (bool); started (ISO day); language (of the rater's page,
    or ""); scale; text (what was written; of a comment all there is); in adjustment start, the gain
    in dB at which the slider was; on a staircase level and unit, of what was asked (NaN in checks).
    """
    rows = session.execute(
        select(RaterRow, ItemRow)
        .join(ItemRow, ItemRow.rater == RaterRow.id)
        .where(RaterRow.test == test.name)
        .order_by(RaterRow.id, ItemRow.place)
    ).all()
    unfinished = {rater.id for rater, row in rows if row.milliseconds is None}
    minutes: defaultdict[str, float] = defaultdict(float)
    for rater, row in rows:
        minutes[rater.id] += (row.server_milliseconds or 0) / 60_000
    table = [
        {
            **asdict(rating),
            "test": test.name,
            "rater": rater.id,
            "trial": row.trial,
            "order": row.place,
            "stimulus": test.trials[row.trial].stimulus,
            "kind": test.trials[row.trial].kind,
            "milliseconds": row.milliseconds,
            "frames": (row.video or {}).get("frames"),
            "dropped_frames": (row.video or {}).get("dropped"),
            "drift": (row.video or {}).get("drift"),
            **{column: (row.playback or {}).get(name) for column, name in PLAYBACK.items()},
            "headphones": rater.headphones,
            "environment": rater.environment,
            "minutes": minutes[rater.id],
            "finished": rater.id not in unfinished,
            "started": rater.started.isoformat(),
            "language": rater.language or "",
            **_design_cells(test, rater.id, row),
        }
        for rater, row in rows
        for rating in _ratings(test, row)
    ]
    columns = RATING_COLUMNS | design_columns(test)
    return pd.DataFrame(table, columns=list(columns)).astype(columns)
