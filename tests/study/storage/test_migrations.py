"""The migrations make exactly the tables that the models describe."""

import hashlib
from datetime import datetime

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from earshot.study.storage.database import connect, migration_settings
from earshot.study.storage.store import Store
from earshot.study.storage.tables import Base


def test_upgrade_makes_tables_of_models(url: str) -> None:
    """The database is empty before."""
    engine = connect(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert context.get_current_revision() is not None
    assert {*inspect(engine).get_table_names()} == {*Base.metadata.tables, "alembic_version"}
    engine.dispose()


def test_downgrade_to_base_drops_all_tables(url: str) -> None:
    engine = connect(url)
    with engine.execution_options(write=True).begin() as connection:
        command.downgrade(migration_settings(connection), "base")
    assert inspect(engine).get_table_names() == ["alembic_version"]
    engine.dispose()
    Store(url).engine.dispose()
    again = create_engine(url)
    assert "items" in inspect(again).get_table_names()
    again.dispose()


def test_upgrade_keeps_answers_and_codes(url: str) -> None:
    """The codes are those that raters were shown."""
    engine = connect(url)
    with engine.execution_options(write=True).begin() as connection:
        command.downgrade(migration_settings(connection), "0001")
        connection.execute(text("INSERT INTO tests VALUES ('t', 'f', 'k')"))
        for rater in ("finished", "halfway"):
            connection.execute(
                text("INSERT INTO raters VALUES (:id, 't', '2026-01-02', :seen, NULL, :no)"),
                {"id": rater, "seen": datetime(2026, 1, 2), "no": False},
            )
            for place in (0, 1):
                done = rater == "finished" or place == 0
                connection.execute(
                    text("INSERT INTO items VALUES (:id, :place, 0, '[]', '5', '[1]', :ms)"),
                    {"id": rater, "place": place, "ms": 900 if done else None},
                )
    engine.dispose()
    store = Store(url)
    with store.engine.connect() as connection:
        codes = dict(connection.execute(text("SELECT id, code FROM raters")).all())
        code = hashlib.sha256(b"finished/finished").hexdigest()[:8].upper()
        assert codes == {"finished": code, "halfway": None}
        assert connection.execute(text("SELECT SUM(attempts) FROM raters")).scalar() == 0
        rows = connection.execute(text("SELECT COUNT(*) FROM items WHERE milliseconds = 900"))
        assert rows.scalar() == 3
    store.engine.dispose()
