"""Completion codes and headphone attempts are stored, and no longer computed from what raters know;
the server's own times of answers."""

import hashlib

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    # No batches: SQLite would make the tables anew, and delete all items by dropping the raters.
    attempts = sa.Column("attempts", sa.Integer(), nullable=False, server_default="0")
    op.add_column("raters", attempts)
    op.add_column("raters", sa.Column("code", sa.String(8), nullable=True))
    op.add_column("items", sa.Column("server_milliseconds", sa.Integer(), nullable=True))
    _keep_given_codes()


def downgrade() -> None:
    op.drop_column("items", "server_milliseconds")
    op.drop_column("raters", "code")
    op.drop_column("raters", "attempts")


def _keep_given_codes() -> None:
    """Keep the code that raters who had finished were shown: it must stay the one in the export."""
    connection = op.get_bind()
    raters = sa.table("raters", sa.column("id"), sa.column("code"))
    items = sa.table("items", sa.column("rater"), sa.column("milliseconds"))
    finished = (
        sa.select(items.c.rater)
        .group_by(items.c.rater)
        .having(sa.func.count() == sa.func.count(items.c.milliseconds))
    )
    for (rater,) in connection.execute(finished).all():
        code = hashlib.sha256(f"finished/{rater}".encode()).hexdigest()[:8].upper()
        connection.execute(sa.update(raters).where(raters.c.id == rater).values(code=code))
