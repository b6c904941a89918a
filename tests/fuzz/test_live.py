"""A short run of the fuzzer on the live socket."""

import time

import pytest

from tests.fuzz.seeds import SOCKETS
from tests.fuzz.targets import read, run

pytestmark = pytest.mark.slow

MESSAGES = 30


def test_damaged_messages_harm_no_process() -> None:
    """Damaged messages end with a sentence."""
    for name, message in SOCKETS.items():
        read(name, message)
    outcome = run(range(MESSAGES // len(SOCKETS)), time.monotonic() + 60, tuple(SOCKETS))
    assert (outcome.failures, outcome.replaced) == ([], 0)
    assert outcome.files.total() == MESSAGES and outcome.refused.total() > MESSAGES / 3
