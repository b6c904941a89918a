"""The evaluation table of the word embeddings and of the baselines."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from training.common.report import markdown
from training.words.evaluate.conditions import noises
from training.words.evaluate.evaluator import Curves, Evaluator, Row
from training.words.evaluate.plot import plot_curves
from training.words.evaluate.systems import systems
from training.words.evaluate.tables import details
from training.words.evaluate.test_set import select_test_set

QUICK: Final = 300  # recordings of each kind at most


def evaluate(
    data: Path,
    folders: Sequence[Path],
    split: str = "test",
    json_out: Path | None = None,
    quick: bool = False,
    plot: Path | None = None,
    speech_models: Sequence[str] = (),
    only: Sequence[str] = (),
) -> list[Row]:
    """Measure every system (see evaluator.py); print and return the rows of the table.

    folders: checkpoints; missing ones are skipped. split: see test_set.select_test_set. quick: use
    a seeded sample. plot: file for the precision–recall curves. speech_models: of the hub, "ID" or
    "ID:LAYER". only: names of the systems to measure; all without it.
    Raises SystemExit where there is nothing to measure.
    """
    test_set = select_test_set(data, split, QUICK if quick else None)
    print(test_set)
    sounds = noises(data)
    if not sounds:
        print(f"There are no sounds in {data}: nothing is measured in noise.")
    evaluator = Evaluator(test_set, sounds)
    rows: list[Row] = []
    curves: dict[str, Curves] = {}
    for system in systems(folders, speech_models):
        if only and system.name not in only:
            continue
        row, curves[system.name] = evaluator.measure(system)
        rows.append(row)
    print(markdown(rows), details(rows), sep="\n\n")
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    if plot:
        plot_curves(curves, plot)
    return rows
