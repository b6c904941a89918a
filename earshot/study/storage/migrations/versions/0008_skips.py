"""Whether the server had the sound of a trial that was skipped: a check counts as failed then."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    # No batches: see 0002.
    op.add_column("items", sa.Column("there", sa.Boolean(), nullable=True))


def downgrade() -> None:
    op.drop_column("items", "there")
