"""python -m benchmarks.index_scale: more vectors than memory holds, by our index and by LanceDB.

Each is written, then opened and searched in a process of its own: recall@10 against exact search,
times of warm searches, memory. Then a writer of each is killed (kill -9) several times, and the
version before must answer as it did. LanceDB: pip install -r requirements-scale.txt. Prints a
table.
"""

import argparse
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.index_scale.engines import ENGINES, sound_id
from benchmarks.index_scale.vectors import pieces, questions
from earshot.core.paths import ROOT

KILLED_SIZE: Final = 0.1  # size of the library that a killed writer wrote, times the measured


def main() -> None:
    """Measure both engines, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index_scale", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000_000, 5_000_000])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=[*ENGINES])
    parser.add_argument("--folder", type=Path, help="for 3 KB a vector (default: a temporary one)")
    parser.add_argument(
        "--do", choices=["write", "search"], help="one step, as a process of its own"
    )
    parser.add_argument("--kills", type=int, default=3, help="of a writer of each")
    chosen = parser.parse_args()
    if chosen.do:
        _step(chosen.do, chosen.engines[0], chosen.folder, chosen.sizes[0])
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print(
            "| vectors | engine | written, s | on disk, GB | recall@10 | p50, ms | p95, ms | "
            "resident, GB | of it before, GB | kills survived |\n"
            "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
            flush=True,
        )
        for size in chosen.sizes:
            for engine in chosen.engines:
                print(_row(folder, engine, size, chosen.kills), flush=True)
    print(f"\n{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}.")


def _row(folder: Path, engine: str, size: int, kills: int) -> str:
    if engine == "lancedb" and importlib.util.find_spec("lancedb") is None:
        return f"| {size:,} | lancedb | not installed |"
    questions(folder, size)
    place = folder / f"{engine}-{size}"
    began = time.monotonic()
    _process("write", engine, place, size).wait()
    seconds = time.monotonic() - began
    answers = json.loads(_process("search", engine, place, size).communicate()[0].splitlines()[-1])
    used = sum(path.stat().st_size for path in place.rglob("*") if path.is_file()) / 1e9
    survived = _kills(folder, engine, int(size * KILLED_SIZE), kills)
    numbers = f"{answers['recall']:.3f} | {answers['p50']:.1f} | {answers['p95']:.1f} | "
    numbers += f"{answers['resident']:.2f} | {answers['before']:.2f}"
    shutil.rmtree(place)
    return f"| {size:,} | {engine} | {seconds:.0f} | {used:.1f} | {numbers} | {survived} |"


def _kills(folder: Path, engine: str, size: int, kills: int) -> str:
    """Kill writers at moments of their work, and count how many times the version before answered
    as it did.
    """
    if not kills:
        return "not tried"
    place = folder / f"{engine}-killed"
    began = time.monotonic()
    _process("write", engine, place, size).wait()
    seconds = time.monotonic() - began
    before = _answers(engine, place, folder, size)
    survived = 0
    for number in range(kills):
        writing = _process("write", engine, place, size // 2)
        time.sleep(seconds / 2 * (number + 1) / (kills + 1))
        writing.send_signal(signal.SIGKILL)
        writing.wait()
        survived += _answers(engine, place, folder, size) == before
    shutil.rmtree(place)
    return f"{survived} of {kills}"


def _answers(engine: str, place: Path, folder: Path, size: int) -> list[list[str]]:
    search = ENGINES[engine][1](place)
    return [search(query) for query in questions(folder, size)[0][:20]]


def _process(do: str, engine: str, place: Path, size: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "benchmarks.index_scale", "--do", do, "--engines", engine]
    command += ["--folder", str(place), "--sizes", str(size)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def _step(do: str, engine: str, place: Path, size: int) -> None:
    write, opened = ENGINES[engine]
    if do == "write":
        write(place, pieces(size))
        return
    queries, exact = questions(place.parent, size)
    before = _resident()
    search = opened(place)
    for query in queries:  # warm: the kernel has what it needs
        search(query)
    times, right = [], 0
    for query, rows in zip(queries, exact, strict=True):
        began = time.perf_counter()
        answer = search(query)
        times.append(1e3 * (time.perf_counter() - began))
        right += len(set(answer) & {sound_id(row) for row in rows})
    result: dict[str, Any] = {"recall": right / exact.size, "resident": _resident()}
    result |= {"p50": np.percentile(times, 50), "p95": np.percentile(times, 95)}
    print(json.dumps({**result, "before": before}))


def _resident() -> float:
    """Read the resident memory of this process, files that are mapped included, in GB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1e6


if __name__ == "__main__":
    main()
