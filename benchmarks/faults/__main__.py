"""python -m benchmarks.faults: every fault against the running app, and a table of what happened.

Needs PostgreSQL, and root for a disk of its own that can be full. Writes the table of
docs/reliability.md.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.faults import answers, models
from benchmarks.faults.outcome import Outcome
from earshot.core.paths import ROOT
from training.common.report import publish_text

PAGE: Final = ROOT / "docs" / "reliability.md"
FAULTS: Final[dict[str, Callable[[Path], Outcome]]] = {
    **{fault.__name__: fault for fault in answers.ALL},
    **{f"damaged_{task}": partial(models.damaged, task=task) for task in models.DAMAGE},
    "index_swapped": models.index_swapped,
}


def main() -> None:
    """Try every fault, print the table, and write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(FAULTS), default=list(FAULTS))
    chosen = parser.parse_args()
    lines = ["| fault | what people were told | afterwards | holds |", "|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    for name in chosen.only:
        with tempfile.TemporaryDirectory(prefix="fault-") as place:
            row = FAULTS[name](Path(place))
        lines.append(
            f"| {row.fault} | {row.seen} | {row.after} | {'yes' if row.holds else '**no**'} |"
        )
        print(lines[-1], flush=True)
    if chosen.only == list(FAULTS):
        publish_text("\n".join(lines), PAGE, "faults")
    sys.exit(any("**no**" in line for line in lines))


if __name__ == "__main__":
    main()
