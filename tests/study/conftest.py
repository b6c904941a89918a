"""Stores to test with: SQLite, and a PostgreSQL server that is started here."""

import shutil
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
def kind(request: pytest.FixtureRequest) -> str:
    """The kind of the database."""
    return request.param


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, once of each kind."""
    if kind == "sqlite":
        return f"sqlite:///{tmp_path / 'answers.db'}"
    return request.getfixturevalue("postgres").fresh("fresh")


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of SQLite with empty tables: to make these takes longer than most tests."""
    file = tmp_path_factory.mktemp("tables") / "answers.db"
    Store(f"sqlite:///{file}").engine.dispose()
    return file


@pytest.fixture(scope="session")
def postgres_with_tables(postgres: Postgres) -> Postgres:
    """The server, with a database "tables" of empty tables."""
    Store(postgres.fresh("tables")).engine.dispose()
    return postgres


@pytest.fixture
def store(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store whose tables are made already, once in each kind of database."""
    if kind == "sqlite":
        file = shutil.copyfile(request.getfixturevalue("tables"), tmp_path / "answers.db")
        store = Store(f"sqlite:///{file}")
    else:
        server = request.getfixturevalue("postgres_with_tables")
        store = Store(server.fresh("fresh", like="tables"))
    yield store
    store.engine.dispose()
