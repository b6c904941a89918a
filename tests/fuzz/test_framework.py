"""A short run of the fuzzer on the framework's own routes."""

import time

import pytest

from tests.fuzz.framework import HEADS, ROUTES
from tests.fuzz.seeds import FRAMEWORK, seed_file
from tests.fuzz.targets import read, run

pytestmark = pytest.mark.slow

SEEDS = range(9_000_000, 9_000_040)


def test_routes_are_those_of_the_seeds() -> None:
    assert {*ROUTES, *HEADS} == {*FRAMEWORK}


@pytest.mark.parametrize("name", ["web/join", "web/mcp", "web/upload", *HEADS])
def test_undamaged_request_is_taken(name: str) -> None:
    read(name, seed_file(name))


def test_damaged_requests_harm_nobody() -> None:
    """Damaged requests are refused."""
    outcome = run(SEEDS, time.monotonic() + 60, tuple(FRAMEWORK))
    assert outcome.failures == []
    assert outcome.files.total() > 100 and outcome.refused.total() > 30
