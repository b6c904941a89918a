"""The history of the store's tables, up to what tables.py says: a file in versions/ for each
change.
"""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text

LOCK = 0x57D7  # any number that is nobody else's


def upgrade(connection: Connection) -> None:
    """Bring the tables up to date, within the connection's transaction; make those missing."""
    if (
        connection.dialect.name == "postgresql"
    ):  # two servers may start at once; SQLite locks anyway
        connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))
    command.upgrade(configuration(connection), "head")


def configuration(connection: Connection) -> Config:
    """Make Alembic's settings to work over this connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
