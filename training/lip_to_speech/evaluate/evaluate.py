"""The table of lip to speech: our checkpoints, upper bounds and lower bounds."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from training.judges.pretrained.judges import Judges
from training.lip_to_speech.evaluate.evaluator import LipEvaluator, Row
from training.lip_to_speech.evaluate.metrics import PESQ_INSTALLED
from training.lip_to_speech.evaluate.systems import systems
from training.lip_to_speech.evaluate.tables import details, table
from training.lip_to_speech.evaluate.test_set import GROUPS, choose, summary

QUICK: Final = 4  # videos of each group at most


def evaluate(
    data: Path,
    vocoder: Path,
    folders: Sequence[Path],
    split: str = "test",
    json_out: Path | None = None,
    quick: bool = False,
    judges: Judges = Judges(),  # noqa: B008  (frozen)
    only: Collection[str] = (),
) -> list[Row]:
    """Evaluate every system, see evaluator.py; print and return the rows of the table.

    vocoder, folders: checkpoints; folders that do not exist are left out. split: see
    test_set.choose. quick: a seeded sample. judges: of the hub, instead of ours.
    only: the systems to measure, by name; all where there are none.
    Raises SystemExit where there is nothing to measure, FileNotFoundError without
    the trained evaluators.
    """
    clips = choose(data, split, QUICK if quick else None)
    print(summary(clips))
    if not PESQ_INSTALLED:
        print("The package pesq is not installed: PESQ is left out.")
    evaluator = LipEvaluator(clips, judges)
    measured = systems(data, clips, vocoder, folders)
    chosen = [system for system in measured if not only or system.name in only]
    rows = [row for system in chosen for row in evaluator.measure(system)]
    rows.sort(key=lambda row: GROUPS.index(row["group"]))
    print(table(rows), details(rows), sep="\n\n")
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows
