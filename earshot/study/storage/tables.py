"""The tables of the store, and the time as they keep it. Names, addresses and tokens are in none of
them.
"""

from datetime import UTC, date, datetime
from typing import Any, Final

from sqlalchemy import JSON, ForeignKey, String, false
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The base of the tables, which knows every one (Base.metadata)."""


class TestRow(Base):
    """A test that has been opened; key lets its organiser see the results. closed: by them. events:
    how many choices and votes there are in an adaptive test (earshot.study.assignment).
    sounds: what raters heard when the first one came (earshot.study.sounds.copies). looks: how many
    raters had finished each time the organiser looked at estimates before the test was closed.
    visits: how many browsers have opened the raters' page."""

    __tablename__ = "tests"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(64))
    key: Mapped[str] = mapped_column(String(43))
    closed: Mapped[bool] = mapped_column(default=False, server_default=false())
    events: Mapped[int] = mapped_column(default=0, server_default="0")
    sounds: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    looks: Mapped[list[int] | None] = mapped_column(JSON(none_as_null=True))
    visits: Mapped[int] = mapped_column(default=0, server_default="0")


class RaterRow(Base):
    """A person who agreed to take a test; id is a hash of the token in their link.

    seen is when they agreed or gave their last new answer, in UTC without a zone; no more than its
    hour leaves the store, and that of raters who have finished. attempts counts their headphone
    checks; headphones is the final result; rooms and environment are those of the test of their
    room. code is the completion code, None until all is answered; outcome is how it ended
    (earshot.study.design.raters), None while it goes on. language is the one that the page spoke to
    them, panel holds keyed hashes of the values of a panel's link (earshot.study.rater_links).
    replies: {"question", "trials", "reply"}, where trials were answered before. device: its kind
    and the browser's family, as in "phone, Firefox". claim: a keyed hash of the secret by which
    their browser is known again, where a panel's link alone does not prove who comes.
    headphone_answers: those of the attempt that they are at, where it is asked trial by trial. Of a
    rater who has withdrawn, this row alone is left.
    """

    __tablename__ = "raters"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    test: Mapped[str] = mapped_column(ForeignKey("tests.name"), index=True)
    started: Mapped[date]
    seen: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    headphones: Mapped[bool | None]
    rooms: Mapped[int] = mapped_column(default=0, server_default="0")
    environment: Mapped[bool | None]
    code: Mapped[str | None] = mapped_column(String(8))
    withdrawn: Mapped[bool] = mapped_column(default=False)
    outcome: Mapped[str | None] = mapped_column(String(16))
    language: Mapped[str | None] = mapped_column(String(8))
    replies: Mapped[list[dict[str, Any]] | None] = mapped_column(JSON(none_as_null=True))
    panel: Mapped[dict[str, str] | None] = mapped_column(JSON(none_as_null=True))
    device: Mapped[str | None] = mapped_column(String(40))
    claim: Mapped[str | None] = mapped_column(String(32))
    headphone_answers: Mapped[list[int] | None] = mapped_column(JSON(none_as_null=True))


class ItemRow(Base):
    """A place in a rater's sequence, and the answer once it is given (see earshot.study.design).

    milliseconds is how long the trial took as the page measures it, server_milliseconds the time
    since the rater's answer before (or their consent) by the server's clock. In an adaptive test,
    knew, drawn and voted are the log of the choice (earshot.study.assignment.Event). version counts
    the answers that were given here. missing: the position of a sound that never came, so that the
    trial was skipped; it counts as done, and has no answer; there: whether the server had that
    sound, so that a check counts as failed. video: of a trial with pictures, as the
    page measured: how many frames were to be seen, how many the browser dropped, and the largest
    drift from the sound in ms, as {"frames", "dropped", "drift"}. playback: how the rater's device
    played the sounds, as the page measured (PlaybackFigures): dropouts, the seconds in which some
    of a sound was left out, and lost, the ms of it; stalls of its clock; how often the page was
    hidden while a sound played; changes of the sound devices; rate (Hz) and latency (ms) of the
    output.
    """

    __tablename__ = "items"

    rater: Mapped[str] = mapped_column(
        ForeignKey("raters.id", ondelete="CASCADE"), primary_key=True
    )
    place: Mapped[int] = mapped_column(primary_key=True)
    trial: Mapped[int]
    systems: Mapped[list[str]] = mapped_column("shown", JSON)
    answer: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    plays: Mapped[list[int] | None] = mapped_column(JSON(none_as_null=True))
    milliseconds: Mapped[int | None]
    server_milliseconds: Mapped[int | None]
    knew: Mapped[int | None]
    drawn: Mapped[int | None]
    voted: Mapped[int | None]
    version: Mapped[int] = mapped_column(default=0, server_default="0")
    missing: Mapped[int | None]
    there: Mapped[bool | None]
    video: Mapped[dict[str, int] | None] = mapped_column(JSON(none_as_null=True))
    playback: Mapped[dict[str, int | None] | None] = mapped_column(JSON(none_as_null=True))


class ChangeRow(Base):
    """An answer that another has replaced: the one with this version."""

    __tablename__ = "changes"

    id: Mapped[int] = mapped_column(primary_key=True)
    rater: Mapped[str] = mapped_column(ForeignKey("raters.id", ondelete="CASCADE"), index=True)
    place: Mapped[int]
    version: Mapped[int]
    answer: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    plays: Mapped[list[int] | None] = mapped_column(JSON(none_as_null=True))
    milliseconds: Mapped[int | None]


# As times are written, which the organiser's page shows in the zone of its reader.
TIME: Final = "%Y-%m-%d %H:%M UTC"


def now() -> datetime:
    """Read the time in UTC, without a zone: SQLite keeps none."""
    return datetime.now(UTC).replace(tzinfo=None)


def without_zone(time: datetime) -> datetime:
    """Convert a time with a zone to one as the tables keep it."""
    return time.astimezone(UTC).replace(tzinfo=None)
