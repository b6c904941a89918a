"""The memory of this process, as Linux tells it."""

import ctypes
import gc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")

PROCESS: Final = Path("/proc/self")


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
