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
    """Bytes that were resident at the most while it ran, above those before; and what it gave."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what others have freed would else be used again, unseen
    (PROCESS / "clear_refs").write_text("5")  # forgets the peak so far
    before = _resident("VmRSS")
    made = work()
    return _resident("VmHWM") - before, made


def _resident(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", (PROCESS / "status").read_text())
    assert found  # on every Linux
    return 1024 * int(found[1])
