"""A program that serves HTTP, in a process of its own."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import httpx

from earshot.core.paths import ROOT

MAX_START: Final = 300.0  # seconds: a machine may do other work as well
# An option of the app, with which each client may come from an address of its own.
PROXY: Final = ("--proxy", "127.0.0.1")


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Served:
    """`python PROGRAM --port PORT`, which answers when this is made; after it was killed and
    started, at the same address again."""

    def __init__(
        self,
        *program: str,
        path: str = "/",
        environment: Mapping[str, str] = MappingProxyType({}),
        python: str = sys.executable,
    ) -> None:
        """Start the program. path: an address that it answers once it serves; python: what runs
        it."""
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._command = [python, *program, "--port", str(self.port)]
        self._environment = {**os.environ, **environment}
        self._path = path
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  (for the life of the process)
        self.start()

    def start(self) -> None:
        """Start the program, and wait until it answers. Raises RuntimeError where it stops
        before.
        """
        self.process = subprocess.Popen(
            self._command,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env=self._environment,
        )
        end = time.monotonic() + MAX_START
        while True:
            try:
                httpx.get(self.address + self._path, timeout=MAX_START)
                return
            except httpx.TransportError as error:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.kill()
                    raise RuntimeError(f"It does not serve: {self.printed()[-2000:]}") from error
                time.sleep(0.1)

    def printed(self) -> str:
        """Read what the program has printed."""
        self._output.seek(0)
        return self._output.read().decode(errors="replace")

    def kill(self) -> None:
        """End the program as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
