"""python -m benchmarks.replicas: one process of the app against several, behind HAProxy.

Both run side by side and are measured in turns, so that what else the machine does is shared. Then
every process is killed, one after the other, under visitors and raters. Needs HAProxy and
PostgreSQL. Prints two tables.
"""

import argparse
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx

from benchmarks.load.visitor import TASKS, Visitor
from benchmarks.raters import Raters, write
from tests.postgres import Postgres
from tests.replicas import Replicas, until_healthy

PROBED: Final = "convert"
GONE: Final = 5.0  # seconds that a killed process is away


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replicas", description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=30, help="of a round")
    parser.add_argument("--task", choices=TASKS, default=PROBED)
    parser.add_argument("--no-kill", action="store_true", help="throughput only")
    chosen = parser.parse_args()
    server = Postgres()
    try:
        with tempfile.TemporaryDirectory(prefix="replicas-") as place:
            folder = Path(place)
            write(folder)
            database = server.url("postgres")
            options = ["--preload", "--max-queue", "200", "--live", "1"]
            options += ["--studies", place, "--database", database]
            with _started(chosen.processes, options) as many:
                with _started(1, options) as one:
                    _throughput(one, many, chosen)
                if not chosen.no_kill:
                    _kills(many, folder, database, chosen)
    finally:
        server.close()


def _started(number: int, options: list[str]) -> Replicas:
    """As deployed: the cores are divided among the processes."""
    threads = max(1, (os.cpu_count() or 1) // number)
    environment = {"OMP_NUM_THREADS": str(threads)}
    return Replicas("app.py", *options, number=number, environment=environment)


def _throughput(one: Replicas, many: Replicas, chosen: argparse.Namespace) -> None:
    done: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for _ in range(chosen.rounds):
        for name, replicas in (("one", one), ("many", many)):
            counts = _round(replicas.address, chosen)
            done[name] += counts["done"]
            failed[name] += counts["failed"]
    seconds = chosen.rounds * chosen.seconds
    print(f"{chosen.task}, {chosen.visitors} visitors without a pause, {os.cpu_count()} cores\n")
    print("| processes | done | a second | failed | × one |\n|---|---|---|---|---|")
    for name, number in (("one", 1), ("many", chosen.processes)):
        ratio = done[name] / max(1, done["one"])
        rate = done[name] / seconds
        print(f"| {number} | {done[name]} | {rate:.2f} | {failed[name]} | {ratio:.2f} |")
    print(f"\nLoad average {os.getloadavg()[0]:.1f}.\n", flush=True)


def _round(address: str, chosen: argparse.Namespace) -> Counter[str]:
    """Visitors who ask again as soon as they are answered: what is done within the time."""
    outcomes: list[str] = []
    ends = time.monotonic() + chosen.seconds

    def visit(number: int) -> None:
        visitor = Visitor(address, number)
        visitor.open_page()
        while time.monotonic() < ends:
            try:
                visitor.call(chosen.task)
            except (RuntimeError, httpx.HTTPError):
                outcomes.append("failed")
                continue
            outcomes.append("done" if time.monotonic() < ends else "too late")

    _all(visit, chosen.visitors)
    return Counter(outcomes)


def _kills(many: Replicas, folder: Path, database: str, chosen: argparse.Namespace) -> None:
    """kill -9 of every process in turn; each is started again, as systemd does."""
    ended = threading.Event()
    failures: list[tuple[str, bool]] = []  # the visitor's process, and whether it was killed then
    dead: set[str] = set()
    done: list[str] = []  # the process of each job

    def visit(number: int) -> None:
        visitor = Visitor(many.address, number)
        visitor.open_page()
        while not ended.is_set():
            place = visitor.client.cookies["replica"]
            try:
                visitor.call(chosen.task)
                done.append(place)
            except (RuntimeError, httpx.HTTPError, KeyError):
                failures.append((place, place in dead))
                time.sleep(1)
                visitor.open_page()

    visits = threading.Thread(target=_all, args=[visit, chosen.visitors])
    visits.start()
    with Raters(many.address, number=chosen.raters) as raters:
        for number, served in enumerate(many.processes, start=1):
            raters.answer(100)
            dead.add(str(number))
            served.kill()
            time.sleep(GONE)
            served.start()
            until_healthy(served)
            raters.answer(100)
            dead.discard(str(number))
        ended.set()
    visits.join()
    lost = raters.lost(folder, database, many.address)
    others = sum(not killed for _, killed in failures)
    print(f"Each of {len(many.processes)} processes killed once, {chosen.raters} raters beside\n")
    print("| jobs done | failed at the killed process | failed elsewhere | answers | lost |")
    print("|---|---|---|---|---|")
    answers = len(raters.acknowledged)
    print(f"| {len(done)} | {len(failures) - others} | {others} | {answers:,} | {lost} |")


def _all(visit: Callable[[int], None], number: int) -> None:
    threads = [threading.Thread(target=visit, args=[n], daemon=True) for n in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
