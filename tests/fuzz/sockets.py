"""Damaged messages to the live socket, with the processes behind it that convert."""

import itertools
from contextlib import suppress
from functools import cache
from typing import Final

from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode

from benchmarks.support.live import HELLO, ServedLive, message_of
from earshot.core.errors import InputError
from earshot.core.paths import CHECKPOINTS
from earshot.systems.voice_conversion.live.process import LiveProcesses
from earshot.systems.voice_conversion.settings import live_checkpoint
from earshot.tabs.voice_conversion.live.server import BROKEN

STOP: Final = '{"stop": true}'
NUMBERS: Final = itertools.count()


def send(name: str, data: bytes) -> None:
    """Sends the message of that name, out of seeds.SOCKETS, and waits until the conversion ends.

    Raises InputError where it is refused with a sentence, and RuntimeError where the conversion
    ends without one, or by a fault of the server.
    """
    message = data if name == "live/sound" else data.decode("utf-8", "replace")
    # Of an address of its own each, for one that comes too often is refused.
    headers = {"X-Forwarded-For": f"visitor-{next(NUMBERS)}"}
    hello = None if name == "live/hello" else HELLO
    with _server().join(hello, additional_headers=headers) as socket:
        with suppress(ConnectionClosed):  # it has ended already
            socket.send(message)
            socket.send(STOP)
        try:
            while (state := message_of(socket))["state"] != "ended":
                pass
        except ConnectionClosed as closed:
            if closed.rcvd and closed.rcvd.code == CloseCode.MESSAGE_TOO_BIG:
                raise InputError("a message this long is not read") from closed
            raise RuntimeError("the conversion ended without a sentence") from closed
    if state["message"] == BROKEN:
        raise RuntimeError(BROKEN)
    if state["message"]:
        raise InputError(state["message"])


@cache
def _server() -> ServedLive:
    """One for the whole process."""
    return ServedLive(LiveProcesses(live_checkpoint(CHECKPOINTS)))
