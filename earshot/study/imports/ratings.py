"""Ratings of whatever origin, as a test and its tidy table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pandas as pd

from earshot.core.errors import InputError
from earshot.study.design import QUESTIONS, REFERENCE, SCALES, Design, Test, Trial
from earshot.study.design.model import ANCHORS, Kind
from earshot.study.storage.tidy import COLUMNS

MAX_RATINGS: Final = 50_000
MAX_SYSTEMS: Final = 20
MAX_STIMULI: Final = 2000
LONGEST: Final = 200  # characters of a name
NOWHERE: Final = Path()  # their sounds are not here


@dataclass(frozen=True)
class Rating:
    """One answer, as in the tidy table (storage.tidy); tolerance: how far a check may miss
    what is expected."""

    rater: str
    stimulus: str
    system: str
    answer: float
    other: str = ""
    milliseconds: float = 0.0
    kind: Kind = "trial"
    expected: float | None = None
    tolerance: float = 0.0


@dataclass(frozen=True)
class Imported:
    """A test without its sounds, and its ratings as a tidy table."""

    test: Test
    table: pd.DataFrame


@dataclass
class Names:
    """Raters by number, in the order in which they come: what they were called is left behind."""

    known: dict[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """The name to use."""
        return self.known.setdefault(name, f"rater-{len(self.known) + 1}")


def imported(
    name: str, title: str, source: str, design: Design, ratings: Sequence[Rating]
) -> Imported:
    """The test that these ratings are of, from this source.

    Raises InputError where there are none, or too many of anything for an analysis to end.
    """
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
    ):
        if number > most:
            raise InputError(f"This file has {number:,} {what}, and {most:,} are the most.")
    if max(map(len, [*names, *stimuli])) > LONGEST:
        raise InputError(f"A system or stimulus has a name of more than {LONGEST} characters.")
    trials, table = _trials(design, ratings)
    test = Test(
        name=name,
        title=title,
        design=design,
        systems=tuple(systems),
        trials=trials,
        trials_per_rater=len(trials),
        folder=NOWHERE,
        question=QUESTIONS[design],
        words=tuple(word for _, word in SCALES[design]),
        source=source,
    )
    return Imported(test, table.assign(test=name).reindex(columns=list(COLUMNS)).astype(COLUMNS))


def _trials(design: Design, ratings: Sequence[Rating]) -> tuple[tuple[Trial, ...], pd.DataFrame]:
    """The trials, in mushra one for all systems with a stimulus, and the table."""
    sounds: dict[tuple[object, ...], dict[str, Path]] = {}
    about: dict[tuple[object, ...], Rating] = {}
    places: dict[tuple[object, ...], int] = {}
    rows = []
    for order, each in enumerate(ratings):
        alone = () if design == "mushra" else (each.system, each.other)
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
            }
        )
    trials = tuple(
        Trial(
            places[key],
            first.stimulus,
            sounds[key],
            NOWHERE if REFERENCE in sounds[key] and design == "mushra" else None,
            first.kind,
            first.expected,
            first.tolerance,
        )
        for key, first in about.items()
    )
    return trials, pd.DataFrame(rows)
