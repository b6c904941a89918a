"""The test of a rater's room, its result and how often it was tried, and how many have opened the
page."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    # No batches: see 0002.
    op.add_column("raters", sa.Column("environment", sa.Boolean(), nullable=True))
    rooms = sa.Column("rooms", sa.Integer(), nullable=False, server_default="0")
    op.add_column("raters", rooms)
    visits = sa.Column("visits", sa.Integer(), nullable=False, server_default="0")
    op.add_column("tests", visits)


def downgrade() -> None:
    op.drop_column("tests", "visits")
    op.drop_column("raters", "rooms")
    op.drop_column("raters", "environment")
