"""What ten systems of one's own cost the first page: python -m benchmarks.systems.

The page with ten plug-ins registered next to the page without, in turn on one machine; each would
take 200 MB when it is chosen, and none is. Writes systems.md.
"""

import os
import platform
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.start import show
from benchmarks.support.served import Served

RUNS: Final = 7
COUNT: Final = 10
FILE: Final = """
import numpy as np

from earshot.systems.registry import system


@system("voice_conversion", "own-{number}", "My system {number}")
class Own:
    voices = ("same",)

    def __init__(self):
        self.weights = np.ones(25_000_000)  # 200 MB

    def __call__(self, waveform, sample_rate, target):
        return waveform, sample_rate
"""


def main() -> None:
    """Measure, print, and write the table."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(COUNT):
            (Path(folder) / f"own_{number}.py").write_text(FILE.format(number=number))
        programs = {"without": ("app.py",), "with": ("app.py", "--pipelines", folder)}
        measured: dict[str, list[tuple[float, float, float]]] = {name: [] for name in programs}
        for _ in range(RUNS):  # in turn, so that other load on the machine affects both alike
            for name, program in programs.items():
                measured[name].append(_first_page(*program))
    rows = [
        (what, [median(run[place] for run in measured[name]) for name in programs], unit)
        for place, (what, unit) in enumerate(
            [("served after", "s"), ("shown by a browser in", "s"), ("fetches", "kB")]
        )
    ]
    lines = [
        "# What ten systems of one's own cost the first page",
        "",
        f"`python -m benchmarks.systems`: medians of {RUNS}, on {os.cpu_count()} cores "
        f"({platform.machine()}); load {load:.1f} before the start. {COUNT} plug-ins are "
        "registered, and none is chosen.",
        "",
        "| the first page is | without | with ten | ratio |",
        "|---|---:|---:|---:|",
        *(
            f"| {what} | {alone:.2f} {unit} | {more:.2f} {unit} | {more / alone:.2f} × |"
            for what, (alone, more), unit in rows
        ),
    ]
    print("\n".join(lines))
    Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n")


def _first_page(*program: str) -> tuple[float, float, float]:
    """Start the app, and show its page in a browser that has never seen it: seconds until it is
    served and shown, and kB that are fetched."""
    start = time.perf_counter()
    server = Served(*program)
    try:
        served = time.perf_counter() - start
        return served, *show(server.address)
    finally:
        server.kill()


if __name__ == "__main__":
    main()
