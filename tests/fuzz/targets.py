"""What the damaged files are given to, and what counts as a failure."""

import logging
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from media.audio.load import load
from media.errors import InputError
from media.video import frames
from pipelines.voice_conversion.units import Units
from study.design import folder, spec
from study.design.yaml_lines import SpecError
from tests.fuzz.mutation import mutated
from tests.fuzz.seeds import DOCUMENTS, SOUNDS, VIDEOS, seed_file

LONGEST: Final = 10.0  # seconds that one file may take
NAMES: Final = (*SOUNDS, *VIDEOS, *DOCUMENTS)


@dataclass
class Outcome:
    """failures: what went wrong, by seed; refused: files that were an InputError, as they should;
    replaced: decoding workers that crashed or were ended, which costs a message and no more."""

    count: int = 0
    refused: int = 0
    replaced: int = 0
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)


def damaged_file(name: str, seed: int) -> bytes:
    """The seed file of that name, damaged as this seed says."""
    return mutated(seed_file(name), random.Random(f"{name}/{seed}"))


def read(name: str, data: bytes) -> None:
    """Does with the file what the app would. Raises InputError where the visitor is told."""
    if name == "units":
        # As a browser sends it: what is no UTF-8 is refused before.
        Units.from_json(data.decode("utf-8", "replace"))
        return
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "upload"
        if name == "yaml":
            path.mkdir()
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


def run(seeds: Iterator[int], until: float, names: tuple[str, ...] = NAMES) -> Outcome:
    """Reads one damaged file of every kind for each seed, until that time.monotonic()."""
    outcome = Outcome()
    replaced = _Replaced()
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
        outcome.replaced = replaced.count
        outcome.failures += replaced.bugs


def _read_one(name: str, seed: int, outcome: Outcome) -> None:
    data, begun = damaged_file(name, seed), time.monotonic()
    try:
        read(name, data)
    except (InputError, SpecError):
        outcome.refused += 1
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what we look for)
        outcome.failures.append(f"{name} {seed}: {type(error).__name__}: {error}")
    took = time.monotonic() - begun
    outcome.count += 1
    outcome.slowest = max(outcome.slowest, took)
    if took > LONGEST:
        outcome.failures.append(f"{name} {seed}: {took:.1f} s")


class _Replaced(logging.Handler):
    """Counts the workers that ended before their time, and collects what nobody foresaw."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.bugs = 0, []

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            self.bugs.append(record.getMessage())
        else:
            self.count += 1
