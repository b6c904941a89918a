"""python -m benchmarks.load.attacked: visitors and raters, a third of the time under attack.

Visitors who think, raters who listen and think, and one attacker of each kind (see
benchmarks.load.attackers) use an app that this starts. For some minutes there are no attackers,
then they attack this app, then another one on the same machine, then anew. All of them share the
processors: what an attack costs beyond its share of these is the difference of the last two. Every
request is a line of a record, from which --table prints what came of it, at any time; with the same
record it goes on. Each comes from an address of its own, of the many that Linux has for this
machine.
"""

import argparse
import itertools
import json
import multiprocessing
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np

from benchmarks.load.attackers import attack
from benchmarks.load.memory import megabytes
from benchmarks.load.visitor import TASKS, Visitor
from benchmarks.support.listening import Rater, write_test
from benchmarks.support.served import MAX_START, Served
from earshot.study.web.server import library

TEST: Final = "ab"
STIMULI: Final = [f"sentence-{number:02}" for number in range(20)]
SOUND: Final = 3.0  # seconds of one
THINKING: Final = (2.0, 6.0)  # seconds of a rater, after a trial's sounds
LISTENING: Final = (15.0, 25.0)  # seconds of a visitor, after a task
RETRY_AFTER: Final = 5.0  # seconds until somebody who was refused tries again
# Of a turn after attackers: what they had begun still ends, and counts for no turn.
SETTLING: Final = 30.0
QUIET: Final = "quiet"
ATTACKED: Final = "attacked"
ELSEWHERE: Final = "another app attacked"
PHASES: Final = (QUIET, ATTACKED, ELSEWHERE)  # in turn
COLUMNS: Final = (QUIET, ELSEWHERE, ATTACKED)  # in the table
TICKS: Final = os.sysconf("SC_CLK_TCK")


class Record:
    """The record of what happened, a line of JSON each, in a file that grows.

    turn: minutes; the first is quiet. Seconds are those of all runs into this file.
    """

    def __init__(self, file: Path, turn: float) -> None:
        before = [row["at"] for row in _rows(file)] if file.exists() else []
        self._begun = time.monotonic() - max(before, default=0.0)
        self._turn, self._lock = 60 * turn, threading.Lock()
        self._file = file.open("a", buffering=1)

    def now(self) -> float:
        """Tell how many seconds have been measured."""
        return time.monotonic() - self._begun

    def phase(self) -> str:
        """Tell which of PHASES the record is in, "" where attacks of the one before still end."""
        turn, into = divmod(self.now(), self._turn)
        phase = PHASES[int(turn) % len(PHASES)]
        return phase if phase == ATTACKED or into > SETTLING or not turn else ""

    def note(self, **row: Any) -> None:
        """Add a line to the record."""
        line = json.dumps({"at": round(self.now(), 3), **row})
        with self._lock:
            print(line, file=self._file)

    @contextmanager
    def timed(self, kind: str) -> Iterator[None]:
        """Note how long a request of this kind takes, or how it fails, which it raises."""
        phase, begun = self.phase(), time.monotonic()
        try:
            yield
        except (RuntimeError, httpx.HTTPError) as error:
            self.note(kind=kind, phase=phase, failed=f"{type(error).__name__}: {error}"[:200])
            raise
        self.note(kind=kind, phase=phase, seconds=round(time.monotonic() - begun, 4))


def main() -> None:
    """Measure the app, or print what was measured."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.load.attacked",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("record", type=Path, help="file of what happened")
    parser.add_argument("--table", action="store_true", help="print what it says, and measure not")
    parser.add_argument("--since", type=float, default=0, help="minutes that the table leaves out")
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument(
        "--turn", type=float, default=10, help="minutes with, or without, attackers"
    )
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--raters", type=int, default=50)
    chosen = parser.parse_args()
    if not chosen.table:
        # As Ctrl+C ends it: the apps and their attackers would go on.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        measure(chosen.record, chosen.minutes, chosen.turn, chosen.visitors, chosen.raters)
    print(table(chosen.record, chosen.since))


def measure(file: Path, minutes: float, turn: float, visitors: int, raters: int) -> None:
    """Use and attack an app until the record has so many minutes."""
    ended = threading.Event()
    with tempfile.TemporaryDirectory(prefix="load-") as place:
        apps, attackers, going = {}, [], {}
        spawn = multiprocessing.get_context("spawn")
        for phase in (ATTACKED, ELSEWHERE):
            tests = Path(place) / phase
            write_test(tests / TEST, TEST, SOUND, STIMULI)
            apps[phase] = Served("app.py", "--preload", "--studies", str(tests))
            going[phase] = spawn.Event()
            arguments = [apps[phase].address, going[phase], _attackers_file(file, phase)]
            attackers.append(spawn.Process(target=attack, args=arguments, daemon=True))
            attackers[-1].start()
        served, record = apps[ATTACKED], Record(file, turn)
        key = library(Path(place) / ATTACKED).open(TEST).key
        honest = [
            *(lambda n=n: _visit(record, served.address, n, ended) for n in range(visitors)),
            *(lambda n=n: _rate(record, served.address, n, key, ended) for n in range(raters)),
        ]
        threads = [threading.Thread(target=each, daemon=True) for each in honest]
        try:
            for thread in threads:
                thread.start()
            _watch(record, served, going, 60 * minutes)
        finally:
            ended.set()
            for each in attackers:
                each.kill()
            for thread in threads:
                thread.join(MAX_START)
            for app in apps.values():
                app.kill()


def table(file: Path, since: float = 0) -> str:
    """Write what a record says, after so many minutes of it, as Markdown."""
    rows = [row for row in _rows(file) if row["at"] >= 60 * since]
    seconds: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    failed: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        if "kind" in row and row["phase"]:
            place = row["kind"], row["phase"]
            if "failed" in row:
                failed[place].append(row["failed"])
            else:
                seconds[place].append(row["seconds"])
    heads = " | ".join(f"{phase}: done | p50 s | p95 s" for phase in COLUMNS)
    lines = [
        f"| request | {heads} | p95, attacked / quiet | attacked / another app | failed |",
        "|---" * (4 + 3 * len(COLUMNS)) + "|",
    ]
    for kind in dict.fromkeys(kind for kind, _ in seconds):
        took = {phase: np.array(seconds[kind, phase] or [np.nan]) for phase in COLUMNS}
        p95 = {phase: np.percentile(each, 95) for phase, each in took.items()}
        cells = [
            f"{len(each):,} | {np.median(each):.3f} | {p95[phase]:.3f}"
            for phase, each in took.items()
        ]
        times = [f"{p95[ATTACKED] / p95[phase]:.2f}" for phase in (QUIET, ELSEWHERE)]
        lost = " / ".join(str(len(failed.get((kind, phase), ""))) for phase in COLUMNS)
        lines.append(f"| {' | '.join([kind, *cells, *times, lost])} |")
    for (kind, phase), messages in failed.items():
        lines.append(f"\nFailed, {kind}, {phase}: {'; '.join(sorted({*messages}))}")
    return "\n".join([*lines, "", *_course(rows), "", *_attempts(_attackers_file(file, ATTACKED))])


def _course(rows: list[dict[str, Any]]) -> list[str]:
    """Tabulate memory each half hour, and say how much the app worked, of what was noted each
    minute.
    """
    minutes = [row for row in rows if "memory" in row]
    if not minutes:
        return []
    begins, ends = (minutes[end]["at"] for end in (0, -1))
    times = [*np.arange(begins, ends - 60, 1800), ends]
    columns = [min(minutes, key=lambda row, at=at: abs(row["at"] - at)) for at in times]
    lines = [
        "| after | " + " | ".join(f"{row['at'] / 60:.0f} min" for row in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
        "| memory, MB | " + " | ".join(f"{row['memory']:,.0f}" for row in columns) + " |",
        "",
    ]
    for phase in COLUMNS:
        cores = [row["cores"] for row in minutes if row["phase"] == phase and "cores" in row]
        load = [row["load"] for row in minutes if row["phase"] == phase]
        if cores:
            lines.append(
                f"While {phase}, the app took {np.mean(cores):.2f} of {os.cpu_count()} cores; the "
                f"machine's load average was {np.median(load):.1f}."
            )
    return lines


def _attempts(file: Path) -> list[str]:
    """Tabulate what attackers tried, and what came of it."""
    if not file.exists():
        return []
    lines = ["| attacker | tries | what came of them |", "|---|---|---|"]
    for kind, outcomes in json.loads(file.read_text()).items():
        summary = "; ".join(
            f"{number:,} × {what}" for what, number in Counter(outcomes).most_common()
        )
        lines.append(f"| {kind} | {sum(outcomes.values()):,} | {summary} |")
    return lines


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text().splitlines():
        yield json.loads(line)


def _attackers_file(file: Path, phase: str) -> Path:
    return file.with_suffix(f".{phase.replace(' ', '-')}.json")


def _watch(record: Record, served: Served, going: Mapping[str, Any], until: float) -> None:
    """Send attackers in and away, and note each minute how the app stands."""
    noted, before, began = -60.0, None, ""
    while record.now() < until and served.process.poll() is None:
        phase = record.phase()
        for target, attack_now in going.items():
            attack_now.set() if phase == target else attack_now.clear()
        if record.now() - noted >= 60:
            elapsed, noted = record.now() - noted, record.now()
            took = _cpu_seconds(served.process.pid)
            work = {} if before is None else {"cores": round((took - before) / elapsed, 3)}
            before = took
            held = megabytes(served.process.pid)
            whole = phase if phase == began else ""  # not half of one and half of another
            record.note(phase=whole, memory=round(held), load=os.getloadavg()[0], **work)
            began = phase
        time.sleep(0.5)


def _cpu_seconds(process: int) -> float:
    """Count the CPU seconds of a process and of its children that ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def _until(ended: threading.Event, step: Callable[[], None]) -> None:
    """Repeat a step until the end; after one that fails, go on RETRY_AFTER seconds later."""
    while not ended.is_set():
        try:
            step()
        except (RuntimeError, httpx.HTTPError):  # which is noted
            ended.wait(RETRY_AFTER)


def _visit(record: Record, address: str, number: int, ended: threading.Event) -> None:
    """Act as a visitor who opens the page, does all tasks, and listens after each."""
    choice = random.Random(number)
    visitor = Visitor(address, source=f"127.0.1.{number + 1}")
    tasks = itertools.islice(itertools.cycle(TASKS), number, None)
    ended.wait(choice.uniform(0, LISTENING[1]))

    def visit() -> None:
        with record.timed("the page"):
            visitor.open_page()
        for task in itertools.islice(tasks, len(TASKS)):
            ended.wait(choice.uniform(*LISTENING))
            if ended.is_set():
                return
            with record.timed(task):
                visitor.call(task)

    _until(ended, visit)


def _rate(record: Record, address: str, number: int, key: str, ended: threading.Event) -> None:
    """Act as one rater after the other, who listen to every sound and think."""
    choice = random.Random(number)
    source = httpx.HTTPTransport(local_address=f"127.0.2.{number + 1}")
    client = httpx.Client(base_url=address, timeout=MAX_START, transport=source)
    ended.wait(choice.uniform(0, LISTENING[1]))

    def rate() -> None:
        with record.timed("a rater's page"):
            client.get(f"/listen/{TEST}").raise_for_status()
        with record.timed("a rater's consent"):
            rater = Rater(client, TEST)
        with record.timed("a rater's session"):
            rater.check(key)
            trials = rater.get("session").raise_for_status().json()["trials"]
        for trial in trials:
            for place in range(trial["sounds"]):
                with record.timed("a rater's sound"):
                    rater.get(f"sound/{trial['order']}/{place}").raise_for_status()
            ended.wait(trial["sounds"] * SOUND + choice.uniform(*THINKING))
            if ended.is_set():
                return
            with record.timed("a rater's answer"):
                rater.answer(trial, choice.choice(["a", "b", "same"])).raise_for_status()

    _until(ended, rate)


if __name__ == "__main__":
    main()
