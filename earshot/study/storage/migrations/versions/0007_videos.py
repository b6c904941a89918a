"""What the page measured of the pictures of a trial: frames, those dropped, and drift."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    # No batches: see 0002.
    op.add_column("items", sa.Column("video", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("items", "video")
