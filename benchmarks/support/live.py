"""A server of live conversions, and visitors of it."""

import json
import threading
import time
from typing import Any, Final

import numpy as np
import uvicorn
from starlette.applications import Starlette
from websockets.sync.client import ClientConnection, connect

from earshot.app import launch
from earshot.core.errors import InputError
from earshot.media.workers.processes import WorkerError
from earshot.systems.registry import Offer
from earshot.systems.voice_conversion.live.process import Choice, LiveProcesses
from earshot.tabs.shared.services import Tickets
from earshot.tabs.voice_conversion.live.server import LiveServer

RATE: Final = 16_000
HELLO: Final = json.dumps({"rate": RATE, "voice": "TF2"})
MAX_WAIT: Final = 60.0  # seconds
CHUNK: Final = 320  # samples


class Echo:
    """A conversion that gives back what it hears, at once, and remembers what it was asked."""

    def __init__(self) -> None:
        self.ready = True
        self.voices: list[object] = []
        self.busy = threading.Event()  # set while a push is to take long
        self.pushed = threading.Event()  # set when one has begun
        self.samples = 0

    def wait_until_ready(self) -> None:
        while self.busy.is_set():
            time.sleep(0.01)
        self.ready = True

    def begin(self, rate: int, choice: Choice) -> None:
        if rate < 8000:
            raise InputError("This rate cannot be used.")

    def push(self, samples: np.ndarray, choice: Choice) -> tuple[dict, np.ndarray]:
        self.pushed.set()
        while self.busy.is_set():
            time.sleep(0.01)
        if choice.voice == "broken":
            raise WorkerError("it ended")
        self.voices.append(choice.voice)
        self.samples += len(samples)
        return {"units": ["#112233"], "behind": 0, "seconds": 0.001}, samples


class Echoes:
    """A stand-in for LiveProcesses: one that echoes, and is given to everybody."""

    def __init__(self, echo: "Echo | None" = None) -> None:
        self.idle = echo or Echo()
        self.returned: list[bool] = []

    def take(self) -> Echo:
        return self.idle

    def give_back(self, process: Echo, healthy: bool) -> None:
        self.returned.append(healthy)


class ServedLive:
    """A LiveServer that listens in a thread of its own, at host and port ``address``, and takes
    messages as long as the app does."""

    def __init__(
        self,
        processes: LiveProcesses,
        most: int = 1,
        seconds: float = 60.0,
        offer: Offer[Any] | None = None,
    ) -> None:
        """Start the server. most: conversions at once; seconds: of a visit; offer: has plug-ins."""
        self.tickets = Tickets()
        routes = LiveServer(processes, self.tickets, most, seconds, offer).routes()
        config = uvicorn.Config(
            Starlette(routes=routes),
            port=0,
            log_level="error",
            ws_max_size=launch.MAX_MESSAGE_BYTES,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.address = f"127.0.0.1:{port}"

    def join(self, hello: str | None = HELLO, **more: Any) -> ClientConnection:
        """Open a visitor's socket, on which hello, if there is one, was sent."""
        socket = connect(f"ws://{self.address}/live", open_timeout=MAX_WAIT, legacy=True, **more)
        if hello is not None:
            socket.send(hello)
        return socket

    def close(self) -> None:
        """End the server, and every visit."""
        self._server.should_exit = True
        self._thread.join()


def message_of(socket: ClientConnection) -> dict[str, Any]:
    """Read the next message in words."""
    while True:
        message = socket.recv(timeout=MAX_WAIT)
        if isinstance(message, str):
            return json.loads(message)


def sound(position: int = 0, samples: int = CHUNK, value: int = 1000) -> bytes:
    """Make a message of so many samples, recorded after ``position`` others."""
    return position.to_bytes(4, "little") + np.full(samples, value, "<i2").tobytes()
