"""How a visitor wants to be heard live, and the tickets that lend their own voice to the socket,
which does not know whose visit it belongs to."""

import secrets
import threading
import time
from dataclasses import dataclass
from typing import Any, Final

from earshot.pipelines.voice_conversion.settings import INTONATIONS
from earshot.tabs.voice_conversion.targets import ALONE, VoiceVisit

SECONDS: Final = 180.0  # that a ticket is good for: to begin, and to come back to a live visit
KINDS: Final[dict[str, Any]] = {
    "voice": str,
    "other": str,
    "share": (int, float),
    "model": str | None,
    "intonation": str,
    "ticket": str | None,
}


@dataclass(frozen=True)
class Wish:
    """What a page tells the socket. voice, other: names, or OWN, for which a ticket is needed;
    share: of the other, 0 to 1; model: None for the default."""

    voice: str
    other: str = ALONE
    share: float = 0.0
    model: str | None = None
    intonation: str = INTONATIONS[0]
    ticket: str | None = None

    @classmethod
    def read(cls, message: Any) -> "Wish | None":
        """From a JSON value; None where it is something else."""
        if not isinstance(message, dict) or not {"voice"} <= message.keys() <= KINDS.keys():
            return None
        if not all(isinstance(value, KINDS[name]) for name, value in message.items()):
            return None
        return cls(**message)


class Tickets:
    """Each names a visit, for SECONDS. What the visit forgets is gone, whoever has its ticket."""

    def __init__(self) -> None:
        self._issued: dict[str, tuple[float, VoiceVisit]] = {}  # until when, of time.monotonic()
        self._lock = threading.Lock()

    def issue(self, visit: VoiceVisit) -> str:
        """A ticket that cannot be guessed."""
        ticket, now = secrets.token_urlsafe(32), time.monotonic()
        with self._lock:
            self._issued = {t: held for t, held in self._issued.items() if held[0] > now}
            self._issued[ticket] = now + SECONDS, visit
        return ticket

    def redeem(self, ticket: str | None) -> VoiceVisit | None:
        """The visit; None where there is no such ticket, or it is over. It may be used again."""
        with self._lock:
            until, visit = self._issued.get(ticket or "", (0.0, None))
        return visit if until > time.monotonic() else None
