"""python -m benchmarks.hub: each model of the hub next to ours: shapes, memory, time.

The classes of transformers with the configurations of the published models and random weights:
nothing is downloaded, and nothing is said of how good they are. Ours and theirs alternate, on one
thread, and the time is that of the processor, so that other load on the machine hardly matters.
Writes table.md.
"""

import ctypes
import gc
import platform
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import torch
from torch import nn

from benchmarks.hub.models import MODELS, HubModel

REPEATS: Final = 3
T = TypeVar("T")

PROCESS: Final = Path("/proc/self")


class Row(NamedTuple):
    """A row of the table. weights: their number; peak: bytes above them while it runs; seconds, and
    how many times as long as ours.
    """

    model: HubModel
    shape: str
    weights: int
    peak: int
    seconds: float
    ratio: float


def main() -> None:
    """Measure, print, and write the table."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rows = []
    for model in MODELS:
        rows.append(measure(model))
        print(
            f"{model.name}: {rows[-1].ratio:.1f} times as long as {model.compared_with}", flush=True
        )
    lines = [
        "# Models of the hub compared with ours",
        "",
        f"`python -m benchmarks.hub`, seconds of one core, {platform.machine()}, "
        f"torch {torch.__version__}. Random weights in the published configurations: none was "
        f"downloaded. Medians of {REPEATS} runs in turn with ours; half precision, as on a GPU, "
        "takes half of the weights' memory.",
        "",
        "| model | input | output | weights, million | weights, GB | more while it runs, GB | s "
        "| ours | times as long |",
        "|---|---|---|---:|---:|---:|---:|---|---:|",
        *(
            f"| {row.model.name} | {row.model.input} | {row.shape} | {row.weights / 1e6:.0f} "
            f"| {4 * row.weights / 1e9:.2f} | {row.peak / 1e9:.2f} | {row.seconds:.2f} "
            f"| {row.model.compared_with} | {row.ratio:.1f} |"
            for row in rows
        ),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_name("table.md").write_text(text)


def measure(model: HubModel) -> Row:
    """Measure theirs and ours in turn, after a run each that is not counted."""
    networks, theirs = model.theirs()
    ours = model.ours()
    with torch.inference_mode():
        peak, shape = peak_above(theirs)
        ours()
        times = [(_seconds(theirs), _seconds(ours)) for _ in range(REPEATS)]
    return Row(
        model,
        " × ".join(map(str, shape)),
        sum(weight.numel() for network in networks for weight in _weights(network)),
        peak,
        statistics.median(seconds for seconds, _ in times),
        statistics.median(seconds / own for seconds, own in times),
    )


def _weights(network: nn.Module) -> list[torch.Tensor]:
    return [*network.parameters(), *network.buffers()]


def _seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def peak_above(work: Callable[[], T]) -> tuple[int, T]:
    """Measure the most bytes that were resident while ``work`` ran, above those before; and its
    result.
    """
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what others have freed would else be used again, unseen
    (PROCESS / "clear_refs").write_text("5")  # forgets the peak so far
    before = _resident("VmRSS")
    result = work()
    return _resident("VmHWM") - before, result


def _resident(name: str) -> int:
    match = re.search(rf"{name}:\s+(\d+) kB", (PROCESS / "status").read_text())
    assert match  # on every Linux
    return 1024 * int(match[1])


if __name__ == "__main__":
    main()
