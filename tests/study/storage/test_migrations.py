"""The migrations make exactly the tables that the models describe."""

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect

from study.storage.database import connect
from study.storage.migrations import configuration
from study.storage.store import Store
from study.storage.tables import Base


def test_from_nothing_to_what_the_models_say(url: str) -> None:
    engine = connect(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert context.get_current_revision() is not None
    assert {*inspect(engine).get_table_names()} == {*Base.metadata.tables, "alembic_version"}
    engine.dispose()


def test_the_way_back_leaves_nothing(url: str) -> None:
    engine = connect(url)
    with engine.execution_options(write=True).begin() as connection:
        command.downgrade(configuration(connection), "base")
    assert inspect(engine).get_table_names() == ["alembic_version"]
    engine.dispose()
    Store(url).engine.dispose()
    again = create_engine(url)
    assert "items" in inspect(again).get_table_names()
    again.dispose()
