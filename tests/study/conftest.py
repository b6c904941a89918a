"""Stores to test with: SQLite, and a PostgreSQL server that is started here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.support.postgres import Postgres
from earshot.study.storage.store import Store


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server of our own."""
    try:
        server = Postgres()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    yield server
    server.close()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'answers.db'}"
    return request.getfixturevalue("postgres").fresh("fresh")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = Store(url)
    yield store
    store.engine.dispose()
