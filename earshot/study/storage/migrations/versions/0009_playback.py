"""What the page measured of how a rater's device played the sounds of a trial."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    # No batches: see 0002.
    op.add_column("items", sa.Column("playback", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("items", "playback")
