"""What a rater has answered so far in an attempt at a headphone check that is asked by trial."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    # No batches: see 0002.
    op.add_column("raters", sa.Column("headphone_answers", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("raters", "headphone_answers")
