"""The table of words: how well each system tells words apart, spoken and written."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from training.evaluators.report import markdown
from training.words.evaluate.conditions import noises
from training.words.evaluate.evaluator import Bench, Curves, Row
from training.words.evaluate.material import choose
from training.words.evaluate.plot import draw
from training.words.evaluate.systems import systems
from training.words.evaluate.tables import details

QUICK: Final = 300  # recordings of each kind at most


def evaluate(
    data: Path,
    folders: Sequence[Path],
    split: str = "test",
    json_out: Path | None = None,
    quick: bool = False,
    plot: Path | None = None,
) -> list[Row]:
    """Measures every system, as bench.py tells; prints and returns the table's rows.

    folders: checkpoints; those that are not there are left out. split: see material.choose.
    quick: a sample, seeded, for a quick answer. plot: where the precision–recall curves are drawn.
    Raises SystemExit where there is nothing to measure.
    """
    material = choose(data, split, QUICK if quick else None)
    print(material)
    sounds = noises(data)
    if not sounds:
        print(f"There are no sounds in {data}: nothing is measured in noise.")
    bench = Bench(material, sounds)
    rows: list[Row] = []
    curves: dict[str, Curves] = {}
    for system in systems(folders):
        row, curves[system.name] = bench.measure(system)
        rows.append(row)
    print(markdown(rows), details(rows), sep="\n\n")
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    if plot:
        draw(curves, plot)
    return rows
