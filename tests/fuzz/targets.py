"""What the damaged files and requests are given to, and what counts as a failure."""

import logging
import os
import random
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError
from earshot.media.audio.load import load
from earshot.media.video import frames
from earshot.sound_index.scan import read_captions
from earshot.study.design import folder, spec
from earshot.study.design.document import SpecError
from earshot.study.sounds.pictures import read_picture
from earshot.systems.voice_conversion.units import Units
from tests.fuzz.mutation import mutated, mutated_json, with_ogg_checksums
from tests.fuzz.requests import send
from tests.fuzz.seeds import (
    CALLS,
    DOCUMENTS,
    FRAMEWORK,
    OGG,
    REQUESTS,
    SOCKETS,
    SOUNDS,
    VIDEOS,
    seed_file,
)

# CPU seconds that one file may take, those of the decoding workers included: how long it takes on a
# busy machine says nothing about a file.
MAX_SECONDS: Final = 10.0
MAX_MEGABYTES: Final = 2048  # MB that this process, or one that decodes for it, may take
TICKS: Final = os.sysconf("SC_CLK_TCK")  # a second
NAMES: Final = (*SOUNDS, *VIDEOS, *DOCUMENTS, *REQUESTS)
# These need the trained models, and seconds to load them.
ALL: Final = (*NAMES, *CALLS, *FRAMEWORK, *SOCKETS)
BODIES: Final = [name for name, body in FRAMEWORK.items() if not isinstance(body, bytes)]
JSONS: Final = ("units", *REQUESTS, *CALLS, *BODIES, "live/hello", "live/voice")


@dataclass
class Outcome:
    """By the name of the format: files, and those refused with an InputError, as they should be.

    replaced: decoding workers that crashed or were ended, which costs a message and no more;
    failures: what went wrong, by name and seed; slowest in CPU seconds.
    """

    files: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    replaced: int = 0
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)


def damaged_file(name: str, seed: int) -> bytes:
    """The seed file of that name, damaged as this seed says."""
    state = random.Random(f"{name}/{seed}")
    if name in JSONS and state.random() < 0.6:
        return mutated_json(seed_file(name), state)
    damaged = mutated(seed_file(name), state)
    return with_ogg_checksums(damaged) if name in OGG and state.random() < 0.8 else damaged


def read(name: str, data: bytes) -> None:
    """Does with the file what the app would. Raises InputError where the visitor is told."""
    if name in REQUESTS:
        send(name, data)
        return
    if name in CALLS:
        from tests.fuzz.endpoints import call  # late, for it loads the app

        call(name, data)
        return
    if name in FRAMEWORK:
        from tests.fuzz import framework  # late, for it loads the app

        framework.send(name, data)
        return
    if name in SOCKETS:
        from tests.fuzz import sockets  # late, for it loads the app

        sockets.send(name, data)
        return
    if name == "units":
        # As a browser sends it: what is no UTF-8 is refused before.
        Units.from_json(data.decode("utf-8", "replace"))
        return
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "upload"
        if name == "captions":
            path.write_bytes(data)
            read_captions(path)
        elif name == "yaml":
            folder.unpack([_zip(Path(place))], path)
            (path / spec.FILE).write_bytes(data)
            spec.load(path / spec.FILE)
        elif name == "zip":
            (zipped := Path(place) / "upload.zip").write_bytes(data)
            folder.unpack([zipped], path)
        else:
            path.write_bytes(data)
            if name in VIDEOS:
                for _ in frames(path, 30):
                    pass
            load(path, min_seconds=0.0)
            if name in VIDEOS and name != "avi":  # which no listening test takes
                read_picture(path.rename(path.with_suffix(".mp4")))


def run(
    seeds: Iterable[int],
    until: float,
    names: tuple[str, ...] = NAMES,
    outcome: Outcome | None = None,
) -> Outcome:
    """Reads one damaged file of every kind for each seed, until that time.monotonic(), and adds
    what happened to an outcome."""
    outcome = outcome or Outcome()
    replaced = _Replaced(outcome)
    logging.getLogger("earshot").addHandler(replaced)
    try:
        for seed in seeds:
            for name in names:
                if time.monotonic() > until:
                    return outcome
                _read_one(name, seed, outcome)
        return outcome
    finally:
        logging.getLogger("earshot").removeHandler(replaced)


def megabytes() -> float:
    """The most memory that this process, or one of its children that ended, ever took."""
    who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return max(resource.getrusage(each).ru_maxrss for each in who) / 1024


def _zip(place: Path) -> Path:
    """The sounds that the YAML is about."""
    (path := place / "sounds.zip").write_bytes(seed_file("zip"))
    return path


def _read_one(name: str, seed: int, outcome: Outcome) -> None:
    data, begun, before = damaged_file(name, seed), _cpu_seconds(), megabytes()
    failed = len(outcome.failures)
    try:
        read(name, data)
    except (InputError, SpecError):
        outcome.refused[name] += 1
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what we look for)
        outcome.failures.append(f"{type(error).__name__}: {error}")
    took = _cpu_seconds() - begun
    outcome.files[name] += 1
    outcome.slowest = max(outcome.slowest, took)
    if took > MAX_SECONDS:
        outcome.failures.append(f"{took:.1f} s")
    if before <= MAX_MEGABYTES < megabytes():
        outcome.failures.append(f"{megabytes():.0f} MB")
    outcome.failures[failed:] = [f"{name} {seed}: {what}" for what in outcome.failures[failed:]]


def _cpu_seconds() -> float:
    """What this process and its children have computed, those included that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + ended.ru_utime + ended.ru_stime
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # it, or its child, has just ended
            for process in (thread / "children").read_text().split():
                fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
                total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


class _Replaced(logging.Handler):
    """Counts the workers that ended before their time, and notes what nobody foresaw."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            self.outcome.failures.append(record.getMessage())
        else:
            self.outcome.replaced += 1
