"""The time as the tables keep it."""

from datetime import UTC, datetime


def now() -> datetime:
    """Read the time in UTC, without a zone: SQLite keeps none."""
    return datetime.now(UTC).replace(tzinfo=None)


def without_zone(time: datetime) -> datetime:
    """Convert a time with a zone to one as the tables keep it."""
    return time.astimezone(UTC).replace(tzinfo=None)
