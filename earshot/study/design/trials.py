"""The trials of a test, from the files of its systems."""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from earshot.study.design.model import ANCHORS, PAIRED, REFERENCE, Design, Kind, Trial

MAX_TRIALS = 5000  # in a test
MAX_TRIALS_PER_RATER = 300  # for a rater, with practice and checks: two hours and more
PREPARED = "prepared"  # the folder beside a test's file for what is made from its sounds


def prepared_path(folder: Path, role: str, source: Path) -> Path:
    """Where the copy of source for this role (an anchor, say) is kept for the test in folder."""
    name = hashlib.sha256(f"{role}/{source.relative_to(folder)}".encode()).hexdigest()[:16]
    return folder / PREPARED / f"{name}.wav"


def scored(
    design: Design,
    folder: Path,
    stimulus: str,
    systems: Mapping[str, Path],
    reference: Path | None,
    anchors: Iterable[str] = ANCHORS,
    mentioned: bool = True,
) -> list[Trial]:
    """All trials of one stimulus, a file by system; ids are to be given by numbered.

    mushra: one with all systems, and where there is a reference with it hidden among them and the
    anchors; mentioned: whether it is open as well. ccr, ab and abx:
    every system against the reference if there is one, else all pairs. Others: one a system.
    """
    if design == "mushra":
        if reference is None:
            return [Trial(0, stimulus, systems)]
        hidden = {REFERENCE: reference}
        low = {name: prepared_path(folder, name, reference) for name in anchors}
        return [Trial(0, stimulus, {**systems, **hidden, **low}, reference if mentioned else None)]
    if design in PAIRED:
        if reference is not None:
            pairs = [{name: path, REFERENCE: reference} for name, path in systems.items()]
        else:
            pairs = [dict(pair) for pair in combinations(systems.items(), 2)]
        return [Trial(0, stimulus, pair) for pair in pairs]
    return [Trial(0, stimulus, {name: path}, reference) for name, path in systems.items()]


def count(design: Design, stimuli: int, systems: int, reference: bool) -> int:
    """How many trials `scored` makes of so many stimuli and systems."""
    if design == "mushra":
        return stimuli
    pairs = systems * (systems - 1) // 2
    return stimuli * (pairs if design in PAIRED and not reference else systems)


def practice(trials: Sequence[Trial], number: int, seed: int) -> list[Trial]:
    """So many of the trials for practice: the same for every rater, so that all start alike."""
    drawn = random.Random(seed).sample(list(trials), min(number, len(trials)))
    return [of_kind("practice", trial) for trial in drawn]


def of_kind(
    kind: Kind, trial: Trial, expected: float | None = None, tolerance: float = 0.0
) -> Trial:
    """The trial as one of another kind."""
    return replace(trial, kind=kind, expected=expected, tolerance=tolerance)


def numbered(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """The trials with their place as id."""
    return tuple(replace(trial, id=number) for number, trial in enumerate(trials))
