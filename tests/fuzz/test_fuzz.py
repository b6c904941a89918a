"""A short run of the fuzzer, and files that once crashed or confused a decoder."""

import contextlib
import itertools
import random
import time
from pathlib import Path

import pytest

from media.audio.load import load
from media.errors import InputError
from tests.fuzz.mutation import mutated
from tests.fuzz.seeds import seed_file
from tests.fuzz.targets import NAMES, damaged_file, read, run

pytestmark = pytest.mark.slow

MINUTES = 0.15
CRASHES = Path(__file__).with_name("crashes")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "yaml"])
def test_read_of_an_undamaged_file_succeeds(name: str) -> None:
    read(name, seed_file(name))


@pytest.mark.parametrize("path", sorted(CRASHES.iterdir()), ids=lambda path: path.name)
def test_load_of_a_file_that_crashed_a_decoder_harms_no_worker(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Damaged AAC whose frames claim more channels than the stream has."""
    with contextlib.suppress(InputError):
        load(path)
    assert caplog.records == [], "no worker was replaced"


def test_mutated_with_the_same_seed_gives_the_same_file() -> None:
    assert damaged_file("mp4", 7) == damaged_file("mp4", 7) != damaged_file("mp4", 8)
    assert mutated(b"x", random.Random(0)) is not None


def test_read_of_damaged_files_succeeds_or_is_an_input_error() -> None:
    outcome = run(itertools.count(), time.monotonic() + 60 * MINUTES, NAMES)
    assert outcome.failures == []
    assert outcome.count > 20 and outcome.refused > 0
