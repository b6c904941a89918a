"""python -m benchmarks.load: a full room, over the real HTTP interface of an app that it starts.

Visitors upload, wait in the queue and read the answer as a browser does, with a session and an
address of their own, next to raters of a listening test who listen to every sound. Then: memory
as visits go by, connections that stall, a full queue, and files that visitors leave. Prints a
table of each part.
"""

import argparse
import itertools
import os
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx
import numpy as np

from benchmarks.load import limits
from benchmarks.load.memory import growth, megabytes
from benchmarks.load.visitor import TASKS, Visitor
from benchmarks.raters import TEST, Raters, write
from benchmarks.support.served import PROXY, Served
from earshot.study.web.server import library

PARTS: Final = ("room", "memory", "limits")
SOUND: Final = 3.0  # seconds of one, in the raters' test
HEAD: Final = (
    "| task | done | p50 s | p95 s | max s | refused or failed |\n|---|---|---|---|---|---|"
)


def main() -> None:
    """Measure the load, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--pause", type=float, default=5, help="s in which a visitor listens")
    parser.add_argument("--requests", type=int, nargs="+", default=[200, 2000])
    chosen = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} before\n")
    with tempfile.TemporaryDirectory(prefix="load-") as place:
        folder = Path(place)
        write(folder, SOUND)
        if {"room", "memory"} & {*chosen.parts}:
            options = ["--preload", "--max-queue", "200", "--studies", place, *PROXY]
            served = Served("app.py", *options)
            try:
                if "room" in chosen.parts:
                    _room(served, folder, chosen)
                if "memory" in chosen.parts:
                    _memory(served, chosen.requests)
            finally:
                served.kill()
    if "limits" in chosen.parts:
        print("| tried | what happened |\n|---|---|")
        print("\n".join(limits.measure()))
    print(f"\nload average {os.getloadavg()[0]:.1f} after")


def _room(served: Served, folder: Path, chosen: argparse.Namespace) -> None:
    print(f"One visitor alone\n\n{HEAD}")
    print(*alone(served.address, 5).rows(), sep="\n", flush=True)
    before = megabytes(served.process.pid)
    opened = library(folder).open(TEST)
    raters = Raters(served.address, number=chosen.raters, seconds=SOUND, key=opened.key)
    with raters:
        times = together(served.address, chosen.visitors, chosen.seconds, chosen.pause)
    print(
        f"\n{chosen.visitors} visitors for {chosen.seconds:g} s, who listen for {chosen.pause:g} s "
        f"after each task, with {chosen.raters} raters\n\n{HEAD}"
    )
    print(*times.rows(), sep="\n")
    p50, p95, longest = np.percentile(raters.times or [np.nan], [50, 95, 100])
    refused = sum(number for status, number in raters.replies.items() if status != 200)
    answers = len(raters.acknowledged)
    print(f"| a rater's answer | {answers} | {p50:.2f} | {p95:.2f} | {longest:.2f} | {refused} |")
    raters_told = [sentence for sentence in raters.refusals if sentence]
    for task, messages in [*times.failures.items(), ("a rater's answer", raters_told)]:
        if messages:
            print(f"\n{task}: {', '.join(sorted({*messages}))}")
    print(f"\nMemory: {before:.0f} MB before, {megabytes(served.process.pid):.0f} MB after.\n")


def _memory(served: Served, requests: list[int]) -> None:
    print("| requests, a new session each | memory MB |\n|---|---|")
    for count, size in growth(served.address, served.process.pid, requests).items():
        print(f"| {count:,} | {size:.0f} |")
    print()


@dataclass
class Times:
    """The seconds that each task took, and what was said of those that were refused or failed."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def call(self, visitor: Visitor, task: str) -> None:
        """Run the task, and note how it went."""
        begun = time.monotonic()
        try:
            visitor.call(task)
            self.seconds[task].append(time.monotonic() - begun)
        except (RuntimeError, httpx.HTTPError) as error:
            self.failures[task].append(str(error))

    def rows(self) -> Iterator[str]:
        """Write the rows of a Markdown table: task, done, p50, p95, max, refused or failed."""
        for task in TASKS:
            p50, p95, longest = np.percentile(self.seconds[task] or [np.nan], [50, 95, 100])
            done, failed = len(self.seconds[task]), len(self.failures[task])
            yield f"| {task} | {done} | {p50:.2f} | {p95:.2f} | {longest:.2f} | {failed} |"


def alone(address: str, repeats: int) -> Times:
    """Let one visitor do one task after the other."""
    times, visitor = Times(), Visitor(address)
    for task in TASKS:
        for _ in range(repeats):
            times.call(visitor, task)
    return times


def together(address: str, visitors: int, seconds: float, pause: float) -> Times:
    """Let visitors use the app at once, each of whom does the tasks in turn and pauses after each,
    to listen. They come in one after the other within a round of pauses."""
    times, ends = Times(), time.monotonic() + seconds

    def visit(number: int) -> None:
        time.sleep(number / visitors * len(TASKS) * pause)
        visitor = Visitor(address, number)
        visitor.open_page()
        for task in itertools.islice(itertools.cycle(TASKS), number, None):
            if time.monotonic() > ends:
                return
            times.call(visitor, task)
            time.sleep(pause)

    threads = [threading.Thread(target=visit, args=[n], daemon=True) for n in range(visitors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


if __name__ == "__main__":
    main()
