"""Damages files and requests at random and reads them: python -m tests.fuzz --minutes 30.

Prints how far it is, then a table by format and a line a failure with the seed that makes its file
again, and ends with 1 if there are any. --keep FOLDER writes those files as they are found.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Final

from tests.fuzz.targets import ALL, Outcome, damaged_file, megabytes, run

SLICE: Final = 50  # seeds between two lines that say how far it is


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0, help="the first; counts up from there")
    parser.add_argument("--files", type=int, default=sys.maxsize, help="stop after so many")
    parser.add_argument("--only", nargs="+", choices=ALL, default=list(ALL))
    parser.add_argument("--keep", type=Path, help="folder for files that failed")
    chosen = parser.parse_args()
    until, outcome, seed = time.monotonic() + 60 * chosen.minutes, Outcome(), chosen.seed
    while time.monotonic() < until and outcome.files.total() < chosen.files:
        before = len(outcome.failures)
        run(range(seed, seed + SLICE), until, tuple(chosen.only), outcome)
        seed += SLICE
        _report(outcome, before, chosen.keep)
    print("\n| format | files | refused |\n|---|---|---|")
    for name, count in outcome.files.items():
        print(f"| {name} | {count:,} | {outcome.refused[name]:,} |")
    sys.exit(bool(outcome.failures))


def _report(outcome: Outcome, before: int, keep: Path | None) -> None:
    """Says how far it is, and what failed after the first ``known``."""
    print(
        f"{outcome.files.total():,} files: {outcome.refused.total():,} refused, "
        f"{outcome.replaced} workers replaced, slowest {outcome.slowest:.2f} CPU s, "
        f"at most {megabytes():.0f} MB, {len(outcome.failures)} failures",
        flush=True,
    )
    for failure in outcome.failures[before:]:
        print(failure, flush=True)
        name, _, seed = failure.partition(":")[0].partition(" ")
        if keep:
            keep.mkdir(parents=True, exist_ok=True)
            file = keep / f"{name.replace('/', '-')}-{seed}.bin"
            file.write_bytes(damaged_file(name, int(seed)))


if __name__ == "__main__":
    main()
