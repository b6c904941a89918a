"""Run by Alembic for each of its commands, over the connection of storage.database."""

from alembic import context

from earshot.study.storage.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
