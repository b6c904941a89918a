"""Faults under raters: an answer that was acknowledged is there afterwards, and a rater whose
answer could not be acknowledged was told so in a sentence.
"""

import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.faults.outcome import Outcome
from benchmarks.raters import NO_REPLY, Raters, write
from benchmarks.support.postgres import Postgres
from benchmarks.support.served import PROXY, Served
from earshot.study.library import BUSY
from earshot.study.web.rater_requests import NOT_STORED

KILLS: Final = 10
BETWEEN: Final = 100  # answers between two faults
HELD: Final = 15.0  # seconds that a lock is held, or a disk is full
FILES: Final = ("answers.db", "answers.db-wal")
CLOCK: Final = Path(__file__).with_name("shifted_clock.py")


def app(folder: Path, database: str | None = None, *program: str) -> Served:
    """Start the app with the tests of the folder."""
    options = [*PROXY, "--studies", str(folder), *(["--database", database] if database else [])]
    return Served(*(program or ("app.py",)), *options, path="/listen/ab")


def killed(place: Path) -> Outcome:
    """Kill the app with kill -9, ten times."""
    write(place)
    served = app(place)
    with _ended(served), Raters(served.address) as raters:
        for _ in range(KILLS):
            raters.answer(BETWEEN)
            served.kill()
            served.start()
        raters.answer(BETWEEN)
    with _restarted(served):
        return _outcome(f"`kill -9` of the app, {KILLS} times", raters, place, served)


def database_killed(place: Path) -> Outcome:
    """Kill PostgreSQL and the app in turn with kill -9, ten times in all."""
    write(place)
    server = Postgres()
    try:
        database = server.url("postgres")
        served = app(place, database)
        with _ended(served), Raters(served.address) as raters:
            for _ in range(KILLS // 2):
                for each in (server, served):
                    raters.answer(BETWEEN)
                    each.kill()
                    time.sleep(1)
                    each.start()
            raters.answer(BETWEEN)
        with _restarted(served):
            fault = f"`kill -9` of PostgreSQL and of the app, {KILLS // 2} times each"
            return _outcome(fault, raters, place, served, database)
    finally:
        server.close()


def locked(place: Path) -> Outcome:
    """Let another program hold SQLite's lock."""
    write(place)
    served = app(place)
    with _ended(served):
        with Raters(served.address) as raters:
            raters.answer(BETWEEN)
            with sqlite3.connect(place / FILES[0], isolation_level=None) as other:
                other.execute("BEGIN IMMEDIATE")
                time.sleep(HELD)
                other.execute("ROLLBACK")
            raters.answer(BETWEEN)
        fault = f"another program holds SQLite's lock for {HELD:g} s"
        return _outcome(fault, raters, place, served)


def read_only(place: Path) -> Outcome:
    """Make the files of the answers read-only."""
    write(place)
    served = app(place)
    files = [str(place / name) for name in FILES]
    with _ended(served):
        with Raters(served.address) as raters:
            raters.answer(BETWEEN)
            subprocess.run(["chattr", "+i", *files], check=True)
            try:
                time.sleep(HELD)
            finally:
                subprocess.run(["chattr", "-i", *files], check=True)
            raters.answer(BETWEEN)
        return _outcome(f"answers.db is read-only for {HELD:g} s", raters, place, served)


def disk_full(place: Path) -> Outcome:
    """Fill the disk of the answers to its last byte."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(place)], check=True)
    try:
        write(place)
        served = app(place)
        with _ended(served):
            with Raters(served.address) as raters:
                raters.answer(BETWEEN)
                filler = place / "filler"
                _fill(filler)
                time.sleep(HELD)
                filler.unlink()
                raters.answer(BETWEEN)
            return _outcome(f"the disk is full for {HELD:g} s", raters, place, served)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def clock_set_back(place: Path) -> Outcome:
    """Set the server's clock back by two days, and forward again."""
    write(place)
    days = place / "days"
    days.write_text("0")
    served = app(place, None, str(CLOCK), str(days))
    with _ended(served):
        with Raters(served.address) as raters:
            for shift in ("0", "-2", "1", "0"):
                days.write_text(shift)
                raters.answer(BETWEEN)
        return _outcome("the clock goes back by 2 days, and on by 3", raters, place, served)


def two_processes(place: Path) -> Outcome:
    """Run two apps on one file of answers, and kill one of them."""
    write(place)
    one, other = app(place), app(place)
    with _ended(one), _ended(other), Raters(one.address, other.address) as raters:
        raters.answer(3 * BETWEEN)
        one.kill()
        one.start()
        raters.answer(3 * BETWEEN)
    with _restarted(other):
        return _outcome("two apps on one SQLite file, one is killed", raters, place, other)


ALL: Final = (
    killed,
    database_killed,
    locked,
    read_only,
    disk_full,
    clock_set_back,
    two_processes,
)


def _outcome(
    fault: str, raters: Raters, place: Path, served: Served, database: str | None = None
) -> Outcome:
    lost = raters.lost(place, database, served.address)
    seen = [
        f"{number:,} × “{sentence}”" for sentence, number in raters.refusals.items() if sentence
    ]
    if gone := raters.replies[NO_REPLY]:
        seen.append(f"{gone:,} × no reply")
    after = f"{len(raters.acknowledged):,} acknowledged, {lost} lost; "
    after += f"longest wait {raters.longest:.1f} s"
    foreseen = {*raters.refusals} <= {"", NOT_STORED, BUSY}
    return Outcome(fault, "; ".join(seen) or "nothing", after, foreseen and not lost)


@contextmanager
def _ended(served: Served) -> Iterator[None]:
    """End the app afterwards."""
    try:
        yield
    finally:
        served.kill()


@contextmanager
def _restarted(served: Served) -> Iterator[None]:
    """Start the app once more, to read what is on the disk."""
    served.start()
    with _ended(served):
        yield


def _fill(path: Path) -> None:
    """Write until there is no room left."""
    with open(path, "wb", buffering=0) as file:
        for size in (2**20, 2**12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
