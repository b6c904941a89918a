"""Damages files at random and reads them: python -m tests.fuzz --minutes 30.

Prints a line a failure with the seed that makes its file again, and ends with 1 if there are any.
--keep FOLDER writes those files.
"""

import argparse
import itertools
import sys
import time
from pathlib import Path

from tests.fuzz.targets import NAMES, damaged_file, run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0, help="the first; counts up from there")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--keep", type=Path, help="folder for files that failed")
    chosen = parser.parse_args()
    until = time.monotonic() + 60 * chosen.minutes
    outcome = run(itertools.count(chosen.seed), until, tuple(chosen.only))
    print(
        f"{outcome.count:,} files from seed {chosen.seed}: {outcome.refused:,} refused, "
        f"{outcome.replaced} workers replaced, slowest {outcome.slowest:.2f} s, "
        f"{len(outcome.failures)} failures"
    )
    for failure in outcome.failures:
        print(failure)
        name, _, seed = failure.partition(":")[0].partition(" ")
        if chosen.keep and name in NAMES:
            chosen.keep.mkdir(parents=True, exist_ok=True)
            (chosen.keep / f"{name}-{seed}.bin").write_bytes(damaged_file(name, int(seed)))
    sys.exit(bool(outcome.failures))


if __name__ == "__main__":
    main()
