"""Visitors and raters at the same time, and how long they waited."""

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import numpy as np

from benchmarks.load.visitor import TASKS, Visitor


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
