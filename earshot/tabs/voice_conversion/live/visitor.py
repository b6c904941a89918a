"""The messages between a page and the socket: sound, and how the visitor wants to speak."""

import asyncio
import json
from collections import deque
from typing import Any, Final

import numpy as np
from starlette.websockets import WebSocket, WebSocketDisconnect

from earshot.core.errors import InputError
from earshot.systems.voice_conversion.live.process import Choice, check_rate
from earshot.tabs.shared.services import OWN, Tickets
from earshot.tabs.voice_conversion.speaking import NO_OWN, Speaking

MAX_MESSAGE_BYTES: Final = 65_536  # a third of a second at 96 kHz
MAX_BACKLOG: Final = 0.4  # seconds of input that may wait
MAX_BUSY_BACKLOG: Final = 0.8  # where the machine is busy, which then takes more at once
FULL_SCALE: Final = 32_768  # of samples of 16 bits
POSITION_BYTES: Final = 4  # bytes, before the samples: how many were recorded before them
# The fields of Speaking that a message has, but for the ticket, which stands for the visit.
KINDS: Final[dict[str, Any]] = {
    "voice": str,
    "other": str,
    "share": (int, float),
    "model": str | None,
    "intonation": str,
    "strength": (int, float),
    "seed": int,
    "ticket": str | None,
}
OVERDUE: Final = "Your own voice was lent for three minutes, and they are over. Press Live again."


class RefusedError(Exception):
    """A message that no page of ours sends; its text is for the person who wrote it."""


def wish_of(speaking: Speaking, tickets: Tickets) -> dict[str, Any]:
    """Write the message of a page whose visitor wants to speak so, with a ticket where it takes
    their own voice. Raises InputError where they have none."""
    ticket = None
    if OWN in speaking.voices:
        if not speaking.visit or not speaking.visit.own:
            raise InputError(NO_OWN)
        ticket = tickets.issue(speaking.visit)
    return {name: getattr(speaking, name) for name in KINDS if name != "ticket"} | {
        "ticket": ticket
    }


def read_wish(message: Any, tickets: Tickets) -> Speaking | None:
    """Read what wish_of wrote, from a JSON value; None where it is something else."""
    if not isinstance(message, dict) or not {"voice"} <= message.keys() <= KINDS.keys():
        return None
    if not all(isinstance(value, KINDS[name]) for name, value in message.items()):
        return None
    fields = {name: value for name, value in message.items() if name != "ticket"}
    return Speaking(**fields, visit=tickets.redeem(message.get("ticket")))


class Visitor:
    """A visitor at one socket. Nothing of what comes is kept but what waits to be converted.

    rate: of the microphone in Hz; dropped: samples that were left out because the conversion was
    behind; backlog: seconds of input that may wait; arrival: set when there is sound, or they are
    gone; gone: whether the visitor has left, or pressed stop.
    """

    def __init__(self, socket: WebSocket, rate: int, speaking: Speaking, tickets: Tickets) -> None:
        self.rate = rate
        self._tickets = tickets
        self._speaking = speaking
        self.dropped = 0
        self.backlog = MAX_BACKLOG
        self.gone = False
        self.arrival = asyncio.Event()
        self._socket = socket
        self._waiting: deque[np.ndarray] = deque()
        self._samples = 0  # that wait
        self._end = 0  # how many samples were recorded up to the last that came

    @classmethod
    async def from_socket(cls, socket: WebSocket, tickets: Tickets) -> "Visitor":
        """Meet the visitor by the first message. Raises RefusedError where it is something else,
        and InputError for a rate that no device has.
        """
        match _read(await _next(socket)):
            case {"rate": int(rate), **rest} if speaking := read_wish(rest, tickets):
                check_rate(rate)
                return cls(socket, rate, speaking, tickets)
        raise RefusedError("The first message is to tell the rate and the voice.")

    @property
    def choice(self) -> Choice:
        """Choose how to speak now. Raises InputError where their own voice is not there, or any
        more.
        """
        if OWN in self._speaking.voices and not self._speaking.visit:
            raise InputError(OVERDUE)
        return self._speaking.live()

    async def listen(self) -> None:
        """Take in what comes until the visitor is gone. Raises RefusedError."""
        try:
            while not self.gone:
                self._receive(await _next(self._socket))
        except WebSocketDisconnect:
            return
        finally:
            self.gone = True
            self.arrival.set()

    def allow_backlog(self, busy: bool) -> None:
        """Let more input wait where the machine is busy."""
        self.backlog = max(MAX_BACKLOG, MAX_BUSY_BACKLOG) if busy else MAX_BACKLOG

    def take(self) -> tuple[np.ndarray, int]:
        """Take the float32 samples (T,) that have come and were not taken, but for those that are
        more than ``backlog`` old; and how many samples had been recorded up to the last of them.
        """
        most = round(self.backlog * self.rate)
        samples = np.concatenate([*self._waiting, np.zeros(0, np.int16)])
        self._waiting.clear()
        self._samples = 0
        self.dropped += max(len(samples) - most, 0)
        return samples[-most:].astype(np.float32) / FULL_SCALE, self._end

    def _receive(self, message: bytes | str) -> None:
        if isinstance(message, bytes):
            if len(message) <= POSITION_BYTES or len(message) % 2:
                raise RefusedError("Sound is a position, and samples of 16 bits.")
            samples = np.frombuffer(message, "<i2", offset=POSITION_BYTES)
            self._end = int.from_bytes(message[:POSITION_BYTES], "little") + len(samples)
            self._waiting.append(samples)
            self._samples += len(samples)
            self.arrival.set()
            # take() leaves out more
            while self._samples > 5 * self.backlog * self.rate:
                oldest = len(self._waiting.popleft())
                self._samples -= oldest
                self.dropped += oldest
            return
        wish = _read(message)
        if wish == {"stop": True}:
            self.gone = True
        # Its ticket is redeemed at once, for the line may be longer than it is good for.
        elif speaking := read_wish(wish, self._tickets):
            self._speaking = speaking
        else:
            raise RefusedError("Nothing but sound, a voice, and stop can be sent.")


async def _next(socket: WebSocket) -> bytes | str:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    data, text = message.get("bytes"), message.get("text")
    content = data if data is not None else text
    if content is None or len(content) > MAX_MESSAGE_BYTES:
        raise RefusedError(f"A message has at most {MAX_MESSAGE_BYTES} bytes.")
    return content


def _read(message: bytes | str) -> Any:
    if isinstance(message, bytes):
        return None
    try:
        return json.loads(message)
    except (ValueError, RecursionError):
        return None
