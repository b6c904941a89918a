"""Tests, raters and their items."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "tests",
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("key", sa.String(43), nullable=False),
    )
    op.create_table(
        "raters",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("test", sa.String(100), sa.ForeignKey("tests.name"), nullable=False),
        sa.Column("started", sa.Date(), nullable=False),
        sa.Column("seen", sa.DateTime(), nullable=False),
        sa.Column("headphones", sa.Boolean(), nullable=True),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
    )
    op.create_index("ix_raters_test", "raters", ["test"])
    op.create_table(
        "items",
        sa.Column(
            "rater",
            sa.String(32),
            sa.ForeignKey("raters.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("place", sa.Integer(), primary_key=True),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.Column("shown", sa.JSON(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.Column("plays", sa.JSON(), nullable=True),
        sa.Column("milliseconds", sa.Integer(), nullable=True),
    )


def downgrade() -> None:
    op.drop_table("items")
    op.drop_table("raters")
    op.drop_table("tests")
