"""python -m benchmarks.library_size: start-up, memory and first search of 500 and 100,000 sounds.

Each library is opened and searched in a process of its own, with the default model. Writes
library_size.md.
"""

import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.index_scale import vectors
from earshot.sound_index.index import SoundIndex, read_index, write_index
from earshot.sound_index.library import Library
from earshot.sound_index.nearest import Nearest
from earshot.sound_index.sound import Entry, Sound
from earshot.systems.sound_search import SoundSearch

ROOT = Path(__file__).parents[1]
SIZES: Final = (500, 100_000)  # sounds
SECONDS: Final = 6  # of each
QUERIES: Final = ("a dog barks", "a dog barks, then a door slams")


def main(arguments: list[str]) -> None:
    """Measure, print, and write the table; with a folder, only open and search it."""
    if arguments:
        print(json.dumps(measured(Path(arguments[0]))))
        return
    own = read_index(ROOT / "assets" / "sounds.index")
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            out = Path(folder) / f"{size}.index"
            write_index(out, library_of(size), own[0])
            command = [sys.executable, "-m", "benchmarks.library_size", str(out)]
            answer = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
            rows[size] = json.loads(answer.stdout.splitlines()[-1])
    text = "\n".join(lines(rows)) + "\n"
    print(text)
    Path(__file__).with_suffix(".md").write_text(text)


def library_of(count: int) -> Library:
    """Make a library of sounds with a segment each, whose vectors resemble those of our own."""
    segments = vectors.vectors_of(count)
    entries = [
        Entry(
            Sound(
                f"{i:016x}", Path(f"/sounds/{i}.ogg"), f"{i}.ogg", f"Sound {i}.", "", SECONDS, ""
            ),
            segments[i : i + 1],
            np.repeat(segments[i : i + 1], SECONDS, axis=0).astype(np.float16),
        )
        for i in range(count)
    ]
    places = np.random.default_rng(0).random((count, 2), dtype=np.float32)
    return Library(entries, Nearest(segments), places)


def measured(folder: Path) -> dict[str, float]:
    """Measure the seconds from the start of the process to the model, to the library and to an
    answer, and the most memory in MB.
    """
    search = SoundSearch.from_pretrained(device="cpu")
    model = time.process_time()
    index = SoundIndex.open(folder, search.encoder)
    opened = time.process_time()
    times = {}
    for name, query in zip(("first search", "first search for two sounds"), QUERIES, strict=True):
        began = time.process_time()
        search(index, query)
        times[name] = time.process_time() - began
    # Not ru_maxrss, which begins with the memory of the process that started this one.
    status = Path("/proc/self/status").read_text()
    memory = float(status.split("VmHWM:")[1].split()[0]) / 1024
    start = {"model": model, "opening the library": opened - model, "start-up": opened}
    return {**start, **times, "memory, MB": memory}


def lines(rows: dict[int, dict[str, float]]) -> list[str]:
    """Write the lines of library_size.md."""
    few, many = (rows[size] for size in SIZES)
    return [
        "# Sound search: libraries of many sounds",
        "",
        f"`python -m benchmarks.library_size`, {platform.machine()}. Seconds of processor time; "
        f"the sounds have {SECONDS} s and a segment each.",
        "",
        f"| | {SIZES[0]:,} sounds | {SIZES[1]:,} sounds | ratio |",
        "|---|---:|---:|---:|",
        *(f"| {n} | {few[n]:.2f} | {many[n]:.2f} | {many[n] / few[n]:.1f} |" for n in few),
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
