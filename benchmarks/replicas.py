"""python -m benchmarks.replicas: one process of the app against several, behind HAProxy.

Both run side by side and are measured in turns, so that what else the machine does is shared. Then
every process is killed, one after the other, under visitors and raters. Needs HAProxy and
PostgreSQL. Prints two tables; on two quiet cores it takes about a quarter of an hour.
"""

import argparse
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import httpx

from benchmarks.load.visitor import TASKS, Visitor
from benchmarks.raters import Raters, write
from benchmarks.support.postgres import Postgres
from benchmarks.support.replicas import Replicas, until_healthy

PROBED: Final = "convert"
FLOOR: Final = 1.3  # × the throughput of one process, which two on two cores should reach
MAX_WAIT: Final = 120.0  # seconds, for a page
GONE: Final = 5.0  # seconds that a killed process is away


def main() -> None:
    """Measure one process and several, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replicas", description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=30, help="of a round")
    parser.add_argument("--task", choices=TASKS, default=PROBED)
    parser.add_argument(
        "--small", action="store_true", help="the page of the tests, to try this program"
    )
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
            program = ["-m", "benchmarks.support.replica"] if chosen.small else ["app.py"]
            with _started(chosen.processes, [*program, *options]) as many:
                with _started(1, [*program, *options]) as one:
                    _throughput(one, many, chosen)
                if not chosen.no_kill:
                    _kills(many, folder, database, chosen)
    finally:
        server.close()


def _started(number: int, program: list[str]) -> Replicas:
    """Start processes as deployed: the cores are divided among them."""
    threads = max(1, (os.cpu_count() or 1) // number)
    environment = {"OMP_NUM_THREADS": str(threads)}
    return Replicas(*program, number=number, environment=environment)


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
    holds = "holds" if done["many"] >= FLOOR * done["one"] > 0 else "does not hold"
    print(
        f"\nThe floor of {FLOOR} × one {holds}. Load average {os.getloadavg()[0]:.1f}.\n",
        flush=True,
    )


def _round(address: str, chosen: argparse.Namespace) -> Counter[str]:
    """Let visitors ask again as soon as they are answered, and count what is done within the time,
    which begins when all have the page.
    """
    outcomes: list[str] = []
    visitors = [_opened(address, number) for number in range(chosen.visitors)]
    ends = time.monotonic() + chosen.seconds

    def visit(number: int) -> None:
        visitor = visitors[number]
        while time.monotonic() < ends:
            try:
                visitor.call(chosen.task)
            except (RuntimeError, httpx.HTTPError):
                outcomes.append("failed")
                continue
            outcomes.append("done" if time.monotonic() < ends else "too late")

    _all(visit, chosen.visitors)
    return Counter(outcomes)


def _opened(address: str, number: int) -> Visitor:
    """Open the page as a visitor: HAProxy sends nobody to a process that it does not find healthy
    yet. Raises RuntimeError where they do not get it.
    """
    visitor, end = Visitor(address, number), time.monotonic() + MAX_WAIT
    while time.monotonic() < end:
        with suppress(httpx.HTTPError):
            visitor.open_page()
            return visitor
        time.sleep(0.5)
    raise RuntimeError(f"A visitor did not get the page within {MAX_WAIT:g} s.")


def _kills(many: Replicas, folder: Path, database: str, chosen: argparse.Namespace) -> None:
    """Kill every process in turn with kill -9; each is started again, as systemd does."""
    ended = threading.Event()
    failures: Counter[str] = Counter()  # at a process that was killed
    elsewhere: Counter[str] = Counter()  # what was said by another
    dead: set[str] = set()
    done: list[str] = []  # the process of each job

    def visit(number: int) -> None:
        visitor, opened = Visitor(many.address, number), False
        while not ended.is_set():
            place = visitor.client.cookies.get("replica") or ""
            try:
                if opened:
                    visitor.call(chosen.task)
                    done.append(place)
                else:
                    visitor.open_page()
                    opened = True
            except (RuntimeError, httpx.HTTPError, KeyError) as error:
                if place in dead:
                    failures[place] += 1
                else:
                    elsewhere[f"{place or 'none yet'}: {error!r}"[:300]] += 1
                opened = False  # as after any error: a new page
                time.sleep(1)

    visits = threading.Thread(target=_all, args=[visit, chosen.visitors])
    visits.start()
    with Raters(many.address, number=chosen.raters) as raters:
        for number, served in enumerate(many.processes, start=1):
            raters.answer(2 * chosen.raters)
            dead.add(str(number))
            served.kill()
            time.sleep(GONE)
            served.start()
            until_healthy(served)
            raters.answer(2 * chosen.raters)
            dead.discard(str(number))
        ended.set()
    visits.join()
    lost = raters.lost(folder, database, many.address)
    print(f"Each of {len(many.processes)} processes killed once, under {chosen.raters} raters\n")
    print("| jobs done | failed at the killed process | failed elsewhere | answers | lost |")
    print("|---|---|---|---|---|")
    answers = len(raters.acknowledged)
    print(f"| {len(done)} | {failures.total()} | {elsewhere.total()} | {answers:,} | {lost} |")
    for message, number in elsewhere.items():
        print(f"\n{number} × elsewhere, {message}")


def _all(visit: Callable[[int], None], number: int) -> None:
    threads = [threading.Thread(target=visit, args=[n], daemon=True) for n in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
