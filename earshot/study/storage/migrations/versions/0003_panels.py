"""The outcome of a rater, their language, what a panel's link said, and closed tests."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    # No batches: see 0002.
    closed = sa.Column("closed", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("tests", closed)
    op.add_column("raters", sa.Column("outcome", sa.String(16), nullable=True))
    op.add_column("raters", sa.Column("language", sa.String(8), nullable=True))
    op.add_column("raters", sa.Column("panel", sa.JSON(), nullable=True))
    raters = sa.table("raters", sa.column("outcome"), sa.column("code"))
    op.execute(sa.update(raters).where(raters.c.code.is_not(None)).values(outcome="complete"))


def downgrade() -> None:
    op.drop_column("raters", "panel")
    op.drop_column("raters", "language")
    op.drop_column("raters", "outcome")
    op.drop_column("tests", "closed")
