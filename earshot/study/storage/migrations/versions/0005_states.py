"""The sounds that raters heard when the first one came, when the organiser looked, the state of
every trial, a log of answers that were replaced, sounds that never came, the kind of device, and a
hash of what a panel's member is known again by.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    # No batches: see 0002.
    op.add_column("tests", sa.Column("sounds", sa.JSON(), nullable=True))
    op.add_column("tests", sa.Column("looks", sa.JSON(), nullable=True))
    op.add_column("raters", sa.Column("device", sa.String(40), nullable=True))
    op.add_column("raters", sa.Column("claim", sa.String(32), nullable=True))
    version = sa.Column("version", sa.Integer(), nullable=False, server_default="0")
    op.add_column("items", version)
    op.add_column("items", sa.Column("missing", sa.Integer(), nullable=True))
    items = sa.table("items", sa.column("version"), sa.column("milliseconds"))
    op.execute(sa.update(items).where(items.c.milliseconds.is_not(None)).values(version=1))
    op.create_table(
        "changes",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column(
            "rater", sa.String(32), sa.ForeignKey("raters.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.Column("plays", sa.JSON(), nullable=True),
        sa.Column("milliseconds", sa.Integer(), nullable=True),
    )
    op.create_index("ix_changes_rater", "changes", ["rater"])


def downgrade() -> None:
    op.drop_table("changes")
    for name in ("missing", "version"):
        op.drop_column("items", name)
    op.drop_column("raters", "claim")
    op.drop_column("raters", "device")
    for name in ("looks", "sounds"):
        op.drop_column("tests", name)
