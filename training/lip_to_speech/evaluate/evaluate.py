"""The table of lip to speech: our checkpoints, the best that there could be, and the least."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from training.lip_to_speech.evaluate.evaluator import Bench, Row
from training.lip_to_speech.evaluate.material import GROUPS, choose, summary
from training.lip_to_speech.evaluate.metrics import PESQ_INSTALLED
from training.lip_to_speech.evaluate.systems import systems
from training.lip_to_speech.evaluate.tables import details, table

QUICK: Final = 4  # films of each group at most


def evaluate(
    data: Path,
    vocoder: Path,
    folders: Sequence[Path],
    split: str = "test",
    json_out: Path | None = None,
    quick: bool = False,
) -> list[Row]:
    """Measures every system, as bench.py tells; prints and returns the table's rows.

    vocoder, folders: checkpoints; of the folders those that are not there are left out. split: see
    material.choose. quick: a sample, seeded, for a quick answer.
    Raises SystemExit where there is nothing to measure, FileNotFoundError without judges.
    """
    clips = choose(data, split, QUICK if quick else None)
    print(summary(clips))
    if not PESQ_INSTALLED:
        print("The package pesq is not installed: PESQ is left out.")
    bench = Bench(clips)
    rows = [
        row for system in systems(data, clips, vocoder, folders) for row in bench.measure(system)
    ]
    rows.sort(key=lambda row: GROUPS.index(row["group"]))
    print(table(rows), details(rows), sep="\n\n")
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows
