"""The time as the tables keep it."""

from datetime import UTC, datetime


def now() -> datetime:
    """UTC, without a zone: SQLite keeps none."""
    return datetime.now(UTC).replace(tzinfo=None)


def without_zone(time: datetime) -> datetime:
    """A time with a zone, as the tables keep it."""
    return time.astimezone(UTC).replace(tzinfo=None)
