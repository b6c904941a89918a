"""The database of a store, set so that what is committed is on the disk, and its tables brought up
to date: a file in migrations/versions for each change.
"""

import os
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, TimeoutError
from sqlalchemy.pool import QueuePool

# Seconds for others who write. Each of those who wait holds a thread of the server, and the page of
# a rater who is refused sends again.
WAIT = 10
MEMORY = "sqlite://"
MIGRATIONS = Path(__file__).parent / "migrations"
PRAGMAS = (
    "journal_mode = WAL",  # readers wait for nobody
    "synchronous = FULL",  # a commit returns when it is on the disk
    "foreign_keys = ON",
    "secure_delete = ON",  # what is withdrawn is overwritten
)
UPGRADE_LOCK = 0x57D7  # any number that is nobody else's


def connect(url: str, upgrade: bool = True) -> Engine:
    """Connect to SQLite, in a file or MEMORY, or PostgreSQL: an engine, its tables made or brought
    up to date unless upgrade is false.

    With the execution option write=True, SQLite's lock is taken when a transaction begins: one that
    reads first and then writes could fail otherwise.
    """
    url = _from_anywhere(url)
    # No answers in errors, which are logged.
    if not url.startswith("sqlite"):
        engine = create_engine(url, hide_parameters=True, pool_pre_ping=True, pool_timeout=WAIT)
    else:
        waiting: dict[str, Any] = {"connect_args": {"timeout": WAIT}, "pool_timeout": WAIT}
        if url == MEMORY:  # is its one connection's own, which threads take in turn
            waiting["connect_args"]["check_same_thread"] = False
            waiting |= {"poolclass": QueuePool, "pool_size": 1, "max_overflow": 0}
        engine = create_engine(url, hide_parameters=True, **waiting)
        event.listen(engine, "connect", _set_up)
        event.listen(engine, "begin", _begin)
    if upgrade:
        with engine.execution_options(write=True).begin() as connection:
            _upgrade(connection)
    if engine.url.get_backend_name() == "sqlite" and (file := engine.url.database):
        _hold_on_to(engine, Path(file))
    return engine


def _from_anywhere(url: str) -> str:
    """Write the URL of a file of SQLite with its whole path: others open it from other folders."""
    parsed = make_url(url)
    file = parsed.database
    if parsed.get_backend_name() != "sqlite" or not file or file.startswith((":", "file:")):
        return url
    return parsed.set(database=str(Path(file).absolute())).render_as_string(hide_password=False)


class StoreRemovedError(RuntimeError):
    """An error that the file of the answers was deleted or replaced while the server ran."""


# What a store raises that cannot be written or reached now: locked, read-only, a full disk, gone.
# ConnectionError: PostgreSQL ended while pg8000 began a connection, which passes the error on bare.
UNAVAILABLE = (DBAPIError, TimeoutError, ConnectionError, StoreRemovedError)


def _hold_on_to(engine: Engine, file: Path) -> None:
    """Let nothing be committed, and nothing more be connected, where the file is no longer the one
    that was opened: SQLite goes on writing into a deleted file, and raters would believe that their
    answers are stored.
    """
    opened = _identity(file)

    def check(*_: Any) -> None:
        if _identity(file) != opened:
            raise StoreRemovedError(f"{file} was removed or replaced: restart the server.")

    event.listen(engine, "do_connect", check)
    event.listen(engine, "commit", check)


def _identity(file: Path) -> tuple[int, int] | None:
    """Identify the file, whatever it is called; None where there is none."""
    try:
        status = os.stat(file)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _set_up(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # so that transactions begin in _begin only
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _upgrade(connection: Connection) -> None:
    """Bring the tables up to date, within the connection's transaction; make those missing."""
    if connection.dialect.name == "postgresql":  # where two servers start at once; SQLite locks
        connection.execute(text(f"SELECT pg_advisory_xact_lock({UPGRADE_LOCK})"))
    command.upgrade(migration_settings(connection), "head")


def migration_settings(connection: Connection) -> Config:
    """Make Alembic's settings to work over this connection."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
