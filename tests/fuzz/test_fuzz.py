"""A short run of the fuzzer, and files that once crashed or confused a decoder."""

import contextlib
import itertools
import json
import random
import time
from pathlib import Path

import pytest

from earshot.core.errors import InputError
from earshot.media.audio.load import load
from tests.fuzz.mutation import mutated, mutated_json, with_ogg_checksums
from tests.fuzz.seeds import OGG, seed_file
from tests.fuzz.targets import NAMES, damaged_file, read, run

pytestmark = pytest.mark.slow

MINUTES = 0.15
CRASHES = Path(__file__).with_name("crashes")


@pytest.mark.parametrize("name", NAMES)
def test_read_of_an_undamaged_file_succeeds(name: str) -> None:
    read(name, seed_file(name))


@pytest.mark.parametrize("path", sorted(CRASHES.iterdir()), ids=lambda path: path.name)
def test_file_that_crashed_decoder_harms_nobody(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Damaged AAC whose frames claim more channels than the stream has stops no worker."""
    with contextlib.suppress(InputError):
        load(path)
    assert caplog.records == [], "no worker was replaced"


def test_same_seed_mutates_alike() -> None:
    """The same seed gives the same file."""
    assert damaged_file("mp4", 7) == damaged_file("mp4", 7) != damaged_file("mp4", 8)
    assert mutated(b"x", random.Random(0)) is not None


def test_damaged_files_raise_only_input_errors() -> None:
    """Damaged files are read, or are input errors."""
    outcome = run(itertools.count(), time.monotonic() + 60 * MINUTES, NAMES)
    assert outcome.failures == []
    assert outcome.files.total() > 20 and outcome.refused.total() > 0


def test_ogg_checksums_change_no_undamaged_file() -> None:
    for name in OGG:
        data = seed_file(name)
        assert with_ogg_checksums(data) == data
        broken = data[:22] + b"1234" + data[26:]
        assert with_ogg_checksums(broken) == data


def test_mutated_json_parses_and_differs() -> None:
    data = seed_file("ab/answer")
    damaged = [mutated_json(data, random.Random(seed)) for seed in range(50)]
    assert all(json.loads(each) is not ... for each in damaged)
    assert sum(each != data for each in damaged) > 40
