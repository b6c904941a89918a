"""The database of a store, set so that what is committed is on the disk, and its tables brought up
to date: a file in migrations/versions for each change.
"""

import contextlib
import os
import secrets
import sqlite3
from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.config import Config
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, TimeoutError
from sqlalchemy.pool import QueuePool

from earshot.core.errors import InputError

# Seconds for others who write. Each of those who wait holds a thread of the server, and the page of
# a rater who is refused sends again.
MAX_WAIT = 10
MEMORY = "sqlite://"
MIGRATIONS = Path(__file__).parent / "migrations"
# Pages of SQLite's log, a few for each answer, that are brought into the file as soon as there are
# so many: whoever copies the file alone, of a server that runs, lacks the last answers at most.
MAX_LOG = 64
MAX_CLOSING = 1000  # milliseconds that the log is waited for at the end
PRAGMAS = (
    f"wal_autocheckpoint = {MAX_LOG}",
    "synchronous = FULL",  # a commit returns when it is on the disk
    "foreign_keys = ON",
    "secure_delete = ON",  # what is withdrawn is overwritten
)
LOG: Final = "journal_mode = WAL"  # readers wait for nobody; the file itself remembers it
EMPTY: Final = (
    "{file} has no table in it: it was copied without {file.name}-wal, which holds the answers. "
    "Copy both, or write one file with python -m earshot study backup. If there were no answers, "
    "delete it."
)
NO_DATABASE: Final = (
    "This is no URL of a database: write sqlite:///FILE, or "
    "postgresql+pg8000://USER:PASSWORD@HOST/NAME."
)
ELSEWHERE: Final = "The answers are not in a file of SQLite: copy them with pg_dump."
UPGRADE_LOCK = 0x57D7  # any number that is nobody else's


def connect(url: str, upgrade: bool = True) -> Engine:
    """Connect to SQLite, in a file or MEMORY, or PostgreSQL: an engine, its tables made or brought
    up to date unless upgrade is false.

    With the execution option write=True, SQLite's lock is taken when a transaction begins: one that
    reads first and then writes could fail otherwise.
    """
    try:
        url = _from_anywhere(url)
    except ArgumentError as error:
        raise InputError(NO_DATABASE) from error
    file = _file_of(url)
    has_content = file is not None and file.exists() and file.stat().st_size > 0
    if file and not has_content:
        # SQLite gives its other files the same permissions: nobody else reads answers.
        file.touch(mode=0o600)
    # No answers in errors, which are logged.
    if not url.startswith("sqlite"):
        engine = create_engine(url, hide_parameters=True, pool_pre_ping=True, pool_timeout=MAX_WAIT)
    else:
        waiting: dict[str, Any] = {"connect_args": {"timeout": MAX_WAIT}, "pool_timeout": MAX_WAIT}
        if url == MEMORY:  # is its one connection's own, which threads take in turn
            waiting["connect_args"]["check_same_thread"] = False
            waiting |= {"poolclass": QueuePool, "pool_size": 1, "max_overflow": 0}
        engine = create_engine(url, hide_parameters=True, **waiting)
        event.listen(engine, "connect", _set_up)
        event.listen(engine, "begin", _begin)
    if has_content:
        with engine.connect() as connection:
            tables = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar()
        if not tables:
            engine.dispose()
            raise InputError(EMPTY.format(file=file))
    if upgrade:
        with engine.execution_options(write=True).begin() as connection:
            _upgrade(connection)
        if file:  # only now, so that the tables are in the file and never in the log alone
            _execute(engine, f"PRAGMA {LOG}")
    if file:
        _hold_on_to(engine, file)
    return engine


def dispose(engine: Engine) -> None:
    """Bring SQLite's log into the file, which then holds all that is committed, and let go of it.
    What is in memory stays."""
    if _file_of(engine.url) is None:
        return
    with contextlib.suppress(sqlite3.Error, *UNAVAILABLE):  # else all is in the log, as before
        _execute(engine, f"PRAGMA busy_timeout = {MAX_CLOSING}")
        _execute(engine, "PRAGMA wal_checkpoint(TRUNCATE)")
    engine.dispose()


def back_up(engine: Engine, out: Path) -> None:
    """Write all that is committed into a file, in one step and while others write.

    Raises InputError for what is no file of SQLite, and where ``out`` is that file."""
    file = _file_of(engine.url)
    if file is None:
        raise InputError(ELSEWHERE)
    if out.resolve() == file.resolve():
        raise InputError(f"{out} holds the answers themselves: name another file.")
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        part.touch(mode=0o600)
        _execute(engine, "VACUUM INTO ?", part)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)


def _execute(engine: Engine, statement: str, *values: Path) -> None:
    """Execute what SQLite allows in no transaction."""
    with contextlib.closing(engine.raw_connection()) as connection:
        connection.cursor().execute(statement, [str(value) for value in values])


def _file_of(url: str | URL) -> Path | None:
    """Find the file of a database of SQLite's; None for one in memory, and for another kind."""
    parsed = make_url(url)
    file = parsed.database
    if parsed.get_backend_name() != "sqlite" or not file or file.startswith((":", "file:")):
        return None
    return Path(file).absolute()


def _from_anywhere(url: str) -> str:
    """Write the URL of a file of SQLite with its whole path: others open it from other folders."""
    file = _file_of(url)
    if file is None:
        return url
    return make_url(url).set(database=str(file)).render_as_string(hide_password=False)


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
