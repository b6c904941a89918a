"""Ratings of any origin, as a test and its tidy table."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pandas as pd

from earshot.core.errors import InputError
from earshot.media.text.table import Row
from earshot.study.design import ANCHORS, REFERENCE, Design, Test, Trial
from earshot.study.design.model import Kind
from earshot.study.rater_links import is_gap
from earshot.study.storage.answers import RATING_COLUMNS

MAX_RATINGS: Final = 50_000
MAX_SYSTEMS: Final = 20
MAX_CELLS: Final = 10_000_000  # raters by sounds, of which most tables have few filled
MAX_ANSWERS: Final = 1001  # that differ: 0 to 100 in tenths
MAX_STIMULI: Final = 2000
MAX_NAME: Final = 200  # characters of a name
MAX_ROWS: Final = 5  # rows that a note names
SHORTENED: Final = re.compile(r"-?\d(?:[.,]\d+)?[eE]\+?\d+")
NOWHERE: Final = Path()  # their sounds are not here


@dataclass(frozen=True)
class Rating:
    """One answer, as in the tidy table (storage.answers); tolerance: how far a check may miss
    what is expected; line: of the file."""

    rater: str
    stimulus: str
    system: str
    answer: float
    other: str = ""
    milliseconds: float = 0.0
    kind: Kind = "trial"
    expected: float | None = None
    tolerance: float = 0.0
    line: int = 0


@dataclass(frozen=True)
class Imported:
    """A test without its sounds, its ratings as a tidy table, and what a reader must know."""

    test: Test
    table: pd.DataFrame
    notes: tuple[str, ...] = ()


@dataclass
class Names:
    """Raters by number, in the order in which they come: what they were called is left behind."""

    numbers: dict[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """Return the name to use."""
        return self.numbers.setdefault(name, f"rater-{len(self.numbers) + 1}")


def check_id(row: Row, column: str) -> None:
    """Raise InputError for an id that is nobody's, or that a spreadsheet has shortened, and so made
    the same of many."""
    value = row.cells[column]
    if not value or value.startswith("#") or is_gap(value, column):
        raise InputError(
            f"Row {row.line}: {column} is “{value[:20]}”, which is nobody's, and so raters cannot "
            "be told apart. Use the file as it was downloaded, or give each rater one of their own."
        )
    if SHORTENED.fullmatch(value):
        raise InputError(
            f"Row {row.line}: {column} is “{value}”, as a spreadsheet shortens a long "
            "number, and so raters cannot be told apart. Use the file as it was downloaded, not "
            "as a spreadsheet saved it."
        )


def imported(
    name: str,
    title: str,
    source: str,
    design: Design,
    ratings: Sequence[Rating],
    notes: Sequence[str] = (),
) -> Imported:
    """Return the test that these ratings are of, from this source. Where a rater rates the same
    sound more than once, the first rating counts, which notes then say.

    Raises InputError where there are none, or too many of anything for an analysis to end.
    """
    ratings, repeated = _first(ratings)
    if repeated:
        notes = [*notes, _repetition(repeated)]
    scored = [each for each in ratings if each.kind == "trial"]
    names = [name for each in scored for name in (each.system, each.other) if name]
    systems = [name for name in dict.fromkeys(names) if name not in (REFERENCE, *ANCHORS)]
    stimuli = {each.stimulus for each in ratings}
    if not systems:
        raise InputError("There are no ratings in this file.")
    for what, number, most in (
        ("ratings", len(ratings), MAX_RATINGS),
        ("systems", len(systems), MAX_SYSTEMS),
        ("stimuli", len(stimuli), MAX_STIMULI),
        ("different answers", len({each.answer for each in ratings}), MAX_ANSWERS),
        ("places in its table of raters by sounds", _cells(ratings), MAX_CELLS),
    ):
        if number > most:
            raise InputError(f"This file has {number:,} {what}, and {most:,} are the most.")
    if max(map(len, [*names, *stimuli])) > MAX_NAME:
        raise InputError(f"A system or stimulus has a name of more than {MAX_NAME} characters.")
    trials, table = _trials(design, ratings)
    test = Test(
        name=name,
        title=title,
        design=design,
        systems=tuple(systems),
        trials=trials,
        trials_per_rater=len(trials),
        folder=NOWHERE,
        question=design.scale.question,
        words=tuple(word for _, word in design.scale.answers),
        source=source,
    )
    table = table.assign(test=name).reindex(columns=list(RATING_COLUMNS)).astype(RATING_COLUMNS)
    return Imported(test, table, tuple(notes))


def _cells(ratings: Sequence[Rating]) -> int:
    """Return how many places a table of raters by sounds, or pairs, has."""
    sounds = {(each.system, each.other, each.stimulus) for each in ratings}
    return len(sounds) * len({each.rater for each in ratings})


def _first(ratings: Sequence[Rating]) -> tuple[list[Rating], list[Rating]]:
    """Return the ratings, and those of sounds that their rater has rated before; checks may come
    again."""
    first: dict[tuple[object, ...], Rating] = {}
    repeated = []
    for number, each in enumerate(ratings):
        check = number if each.kind != "trial" else None
        key = (each.rater, each.stimulus, each.system, each.other, check)
        if key in first:
            repeated.append(each)
        else:
            first[key] = each
    return [*first.values()], repeated


def _repetition(repeated: Sequence[Rating]) -> str:
    raters = len({each.rater for each in repeated})
    who = "1 rater rates" if raters == 1 else f"{raters} raters rate"
    lines = ", ".join(str(each.line) for each in repeated[:MAX_ROWS])
    more = " …" if len(repeated) > MAX_ROWS else ""
    return (
        f"{who} the same sound more than once, as where a session was stored twice: the first "
        f"rating is kept, and {len(repeated)} others are left out (rows {lines}{more})."
    )


def _trials(design: Design, ratings: Sequence[Rating]) -> tuple[tuple[Trial, ...], pd.DataFrame]:
    """Return the trials, in mushra one for all systems with a stimulus, and the table."""
    sounds: dict[tuple[object, ...], dict[str, Path]] = {}
    about: dict[tuple[object, ...], Rating] = {}
    places: dict[tuple[object, ...], int] = {}
    rows = []
    for order, each in enumerate(ratings):
        alone = () if design.together else (each.system, each.other)
        key = (each.kind, each.stimulus, *alone)
        about.setdefault(key, each)
        sounds.setdefault(key, {}).update({n: NOWHERE for n in (each.system, each.other) if n})
        rows.append(
            {
                "rater": each.rater,
                "trial": places.setdefault(key, len(places)),
                "order": order,
                "position": 0,
                "system": each.system,
                "other": each.other,
                "stimulus": each.stimulus,
                "answer": each.answer,
                "kind": each.kind,
                "expected": each.expected,
                "plays": 1,
                "milliseconds": round(each.milliseconds),
                "headphones": None,
                "finished": True,
                "started": "",
                "language": "",
                "scale": design.name,
                "text": "",
            }
        )
    trials = tuple(
        Trial(
            places[key],
            first.stimulus,
            sounds[key],
            NOWHERE if REFERENCE in sounds[key] and design.together else None,
            first.kind,
            first.expected,
            first.tolerance,
        )
        for key, first in about.items()
    )
    return trials, pd.DataFrame(rows)
