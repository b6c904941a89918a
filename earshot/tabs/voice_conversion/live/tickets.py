"""The messages of a page to the socket, and the tickets that lend a visitor's own voice to it,
which does not know whose visit it belongs to.
"""

import secrets
import threading
import time
from typing import Any, Final

from earshot.core.errors import InputError
from earshot.tabs.shared.own_voice import OWN
from earshot.tabs.voice_conversion.speaking import NO_OWN, Speaking, VoiceVisit

SECONDS: Final = 180.0  # that a ticket is good for: to begin, and to come back to a live visit
# The fields of Speaking that a message has, but for the ticket, which stands for the visit.
KINDS: Final[dict[str, Any]] = {
    "voice": str,
    "other": str,
    "share": (int, float),
    "model": str | None,
    "intonation": str,
    "ticket": str | None,
}


class Tickets:
    """Tickets, of which each names a visit, for SECONDS. What the visit forgets is gone, whoever
    has its ticket.
    """

    def __init__(self) -> None:
        self._issued: dict[str, tuple[float, VoiceVisit]] = {}  # until when, of time.monotonic()
        self._lock = threading.Lock()

    def write(self, speaking: Speaking) -> dict[str, Any]:
        """Write the message of a page whose visitor wants to be heard so, with a ticket where it
        takes their own voice. Raises InputError where they have none."""
        ticket = None
        if OWN in speaking.voices:
            if not speaking.visit or not speaking.visit.own:
                raise InputError(NO_OWN)
            ticket = self.issue(speaking.visit)
        return {name: getattr(speaking, name) for name in KINDS if name != "ticket"} | {
            "ticket": ticket
        }

    def read(self, message: Any) -> Speaking | None:
        """Read what write wrote, from a JSON value; None where it is something else."""
        if not isinstance(message, dict) or not {"voice"} <= message.keys() <= KINDS.keys():
            return None
        if not all(isinstance(value, KINDS[name]) for name, value in message.items()):
            return None
        rest = {name: value for name, value in message.items() if name != "ticket"}
        return Speaking(**rest, visit=self.redeem(message.get("ticket")))

    def issue(self, visit: VoiceVisit) -> str:
        """Issue a ticket that cannot be guessed."""
        ticket, now = secrets.token_urlsafe(32), time.monotonic()
        with self._lock:
            self._issued = {t: held for t, held in self._issued.items() if held[0] > now}
            self._issued[ticket] = now + SECONDS, visit
        return ticket

    def redeem(self, ticket: str | None) -> VoiceVisit | None:
        """Find the visit; None where there is no such ticket, or it is over. It may be used
        again."""
        with self._lock:
            until, visit = self._issued.get(ticket or "", (0.0, None))
        return visit if until > time.monotonic() else None
