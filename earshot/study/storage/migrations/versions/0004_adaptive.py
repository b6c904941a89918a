"""The log of adaptive tests (what happened in which order, and what each choice knew), and replies
to the questions of a test."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    # No batches: see 0002.
    events = sa.Column("events", sa.Integer(), nullable=False, server_default="0")
    op.add_column("tests", events)
    op.add_column("raters", sa.Column("replies", sa.JSON(), nullable=True))
    for name in ("knew", "drawn", "voted"):
        op.add_column("items", sa.Column(name, sa.Integer(), nullable=True))


def downgrade() -> None:
    for name in ("voted", "drawn", "knew"):
        op.drop_column("items", name)
    op.drop_column("raters", "replies")
    op.drop_column("tests", "events")
