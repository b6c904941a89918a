"""The database of a store, set so that what is committed is on the disk."""

from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event

from study.storage.migrations import upgrade

WAIT = 60  # seconds for others who write
PRAGMAS = (
    "journal_mode = WAL",  # who reads waits for nobody
    "synchronous = FULL",  # a commit returns when it is on the disk
    "foreign_keys = ON",
    "secure_delete = ON",  # what is withdrawn is overwritten
)


def connect(url: str) -> Engine:
    """The engine for SQLite or PostgreSQL, its tables made or brought up to date.

    With the execution option write=True, SQLite's lock is taken when a transaction begins: one that
    reads first and then writes could fail otherwise.
    """
    if not url.startswith("sqlite"):
        engine = create_engine(url, pool_pre_ping=True, pool_timeout=WAIT)
    else:
        engine = create_engine(url, connect_args={"timeout": WAIT}, pool_timeout=WAIT)
        event.listen(engine, "connect", _set_up)
        event.listen(engine, "begin", _begin)
    with engine.execution_options(write=True).begin() as connection:
        upgrade(connection)
    return engine


def _set_up(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # so that transactions begin in _begin only
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
