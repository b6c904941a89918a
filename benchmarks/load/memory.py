"""Memory that the app holds as visits go by, and files of visitors."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.load.visitor import Visitor

# Of ten requests, as a new session each.
MIX: Final = (*["embed_text", "search_sounds"] * 4, "convert", "lip_to_speech")


def megabytes(process: int) -> float:
    """Measure the memory of a process and its children; what others share counts in part (PSS)."""
    return sum(_kilobytes(each) for each in (process, *_children(process))) / 1024


def growth(address: str, process: int, counts: Sequence[int]) -> dict[int, float]:
    """Measure the memory in MB after each of these numbers of requests."""
    visitor, sizes, done = Visitor(address), {}, 0
    for count in counts:
        while done < count:
            visitor.open_page()
            visitor.call(MIX[done % len(MIX)])
            done += 1
        sizes[count] = megabytes(process)
    return sizes


def files(folder: Path) -> list[Path]:
    """List the files of visitors in a temporary folder: all but the lock."""
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "lock"]


def _kilobytes(process: int) -> int:
    lines = _text(f"/proc/{process}/smaps_rollup").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _children(process: int) -> list[int]:
    tasks = os.listdir(f"/proc/{process}/task")
    lists = (_text(f"/proc/{process}/task/{task}/children") for task in tasks)
    return [int(child) for text in lists for child in text.split()]


def _text(path: str) -> str:
    """Read what the kernel says of a process or a thread: nothing, if it has just ended."""
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
