"""A server of live conversions, and visitors of it."""

import json
import threading
import time
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from websockets.sync.client import ClientConnection, connect

import app
from pipelines.voice_conversion.live import LiveProcesses
from tabs.voice_conversion.live.server import LiveServer

RATE: Final = 16_000
HELLO: Final = json.dumps({"rate": RATE, "voice": "TF2"})
PATIENCE: Final = 60.0  # seconds


class ServedLive:
    """A LiveServer that listens in a thread of its own, at host and port ``address``, and takes
    messages as long as the app does."""

    def __init__(self, processes: LiveProcesses, most: int = 1, seconds: float = 60.0) -> None:
        """most: conversions at once; seconds: of a visit."""
        routes = LiveServer(processes, most, seconds).routes()
        config = uvicorn.Config(
            Starlette(routes=routes), port=0, log_level="error", ws_max_size=app.MOST_BYTES
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.address = f"127.0.0.1:{port}"

    def join(self, hello: str | None = HELLO, **more: Any) -> ClientConnection:
        """A visitor's socket, on which hello, if there is one, was sent."""
        socket = connect(f"ws://{self.address}/live", open_timeout=PATIENCE, legacy=True, **more)
        if hello is not None:
            socket.send(hello)
        return socket

    def close(self) -> None:
        """Ends it, and every visit."""
        self._server.should_exit = True
        self._thread.join()


def told(socket: ClientConnection) -> dict[str, Any]:
    """The next message in words."""
    while True:
        message = socket.recv(timeout=PATIENCE)
        if isinstance(message, str):
            return json.loads(message)
