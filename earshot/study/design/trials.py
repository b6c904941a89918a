"""The trials of a test, from the files of its systems."""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from earshot.study.design.designs import ANCHORS, Design
from earshot.study.design.model import Kind, Trial

MAX_TRIALS = 5000  # in a test
MAX_TRIALS_PER_RATER = 300  # for a rater, with practice and checks: two hours and more
PREPARED = "prepared"  # the folder next to a test's file for what is made from its sounds


def prepared_path(folder: Path, role: str, source: Path) -> Path:
    """Name the path where the copy of source for this role (an anchor, say) is kept for the test in
    folder.
    """
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
    """Make all trials of one stimulus, a file by system; ids are to be given by numbered.

    anchors: those that are made from the reference where it is hidden; mentioned: whether raters
    hear it openly, in a design in which they may.
    """
    low = {name: prepared_path(folder, name, reference) for name in anchors} if reference else {}
    heard = reference if design.referenced and mentioned else None
    groups = design.groups(systems, reference, low)
    return [Trial(0, stimulus, sounds, heard) for sounds in groups]


def count(design: Design, stimuli: int, systems: int, reference: bool) -> int:
    """Count the trials that `scored` makes of so many stimuli and systems."""
    return stimuli * design.count(systems, reference)


def practice(trials: Sequence[Trial], number: int, seed: int) -> list[Trial]:
    """Draw so many of the trials for practice: the same for every rater, so that all start
    alike.
    """
    drawn = random.Random(seed).sample(list(trials), min(number, len(trials)))
    return [of_kind("practice", trial) for trial in drawn]


def of_kind(
    kind: Kind, trial: Trial, expected: float | None = None, tolerance: float = 0.0
) -> Trial:
    """Make the trial one of another kind."""
    return replace(trial, kind=kind, expected=expected, tolerance=tolerance)


def numbered(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Give the trials their place as id."""
    return tuple(replace(trial, id=number) for number, trial in enumerate(trials))
