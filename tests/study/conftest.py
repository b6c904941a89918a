"""Stores to test with: SQLite, and a PostgreSQL server that is started here."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from study.storage.store import Store

PATIENCE = 60.0  # seconds for the server to start
DEBIAN = "/usr/lib/postgresql"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server of our own, reached by a socket only."""
    places = [os.environ["PATH"], *(str(each) for each in Path(DEBIAN).glob("*/bin"))]
    path = os.pathsep.join(places)
    initdb, server = (shutil.which(name, path=path) for name in ("initdb", "postgres"))
    if not (initdb and server):
        pytest.skip("no PostgreSQL here")
    # The server refuses to be root, and its user could not enter pytest's folders.
    user = next((n for n in ("postgres", "nobody") if os.getuid() == 0 and _known(n)), None)
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    if user:
        shutil.chown(folder, user)
    data = folder / "data"
    options = ["-D", str(data), "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync"]
    subprocess.run([initdb, *options], user=user, cwd=folder, check=True, capture_output=True)
    process = subprocess.Popen(
        [server, "-D", str(data), "-k", str(folder), "-c", "listen_addresses="],
        user=user,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"postgresql+pg8000://tester@/postgres?unix_sock={folder}/.s.PGSQL.5432"
    try:
        _wait(url)
        yield url
    finally:
        process.send_signal(signal.SIGINT)  # without waiting for who is still connected
        process.wait(30)
        shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'answers.db'}"
    server = request.getfixturevalue("postgres")
    with create_engine(server, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS fresh WITH (FORCE)"))
        connection.execute(text("CREATE DATABASE fresh"))
    return server.replace("/postgres?", "/fresh?")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = Store(url)
    yield store
    store.engine.dispose()


def _known(user: str) -> bool:
    return any(each.pw_name == user for each in pwd.getpwall())


def _wait(url: str) -> None:
    """Until the server answers."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            create_engine(url).connect().close()
            return
        except DBAPIError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
