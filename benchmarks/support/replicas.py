"""Equal processes of the app behind HAProxy, as deploy/haproxy.cfg has it, on ports of our own."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

import httpx

from benchmarks.support.served import MAX_START, Served, free_port
from earshot.core.paths import ROOT

CONFIGURATION: Final = ROOT / "deploy" / "haproxy.cfg"
HEALTH: Final = "/healthz"
PLACES: Final = os.pathsep.join([os.environ["PATH"], "/usr/sbin"])  # where Debian puts it


class Replicas:
    """`python PROGRAM --port PORT` several times, and HAProxy at ``address`` before them, until
    the end of the with statement; processes: of number 1 and so on."""

    def __init__(
        self, *program: str, number: int, environment: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Start the processes and HAProxy, and wait until all are healthy. Raises FileNotFoundError
        where there is no HAProxy.
        """
        proxy = shutil.which("haproxy", path=PLACES)
        if proxy is None:
            raise FileNotFoundError("There is no HAProxy here.")
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        with ExitStack() as started:

            def start(_: int) -> Served:
                served = Served(*program, path=HEALTH, environment=environment)
                started.callback(served.kill)
                return served

            with ThreadPoolExecutor(number) as pool:
                self.processes = list(pool.map(start, range(number)))
            file = Path(started.enter_context(tempfile.TemporaryDirectory())) / "haproxy.cfg"
            file.write_text(configuration(port, [served.port for served in self.processes]))
            running = subprocess.Popen([proxy, "-f", str(file)], stderr=subprocess.DEVNULL)
            started.callback(running.wait)
            started.callback(running.kill)
            for served in self.processes:
                until_healthy(served)
            until_open(port, running)
            self._started = started.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes."""
        self._started.close()


def configuration(port: int, ports: list[int]) -> str:
    """Write the configuration that is deployed, listening on this port before processes on
    those.
    """
    lines = []
    for line in CONFIGURATION.read_text().replace("bind :80", f"bind 127.0.0.1:{port}").split("\n"):
        if server := re.match(r" +server (\d+) ", line):
            number = int(server[1])
            if number > len(ports):
                continue
            line = line.replace(f":786{number} ", f":{ports[number - 1]} ")
        lines.append(line)
    return "\n".join(lines)


def until_healthy(served: Served) -> None:
    """Wait until all models of a process answer. Raises RuntimeError if they do not."""
    end = time.monotonic() + MAX_START
    while httpx.get(served.address + HEALTH, timeout=MAX_START).status_code != httpx.codes.OK:
        if time.monotonic() > end or served.process.poll() is not None:
            raise RuntimeError(f"A process is not healthy: {served.printed()[-2000:]}")
        time.sleep(0.2)


def until_open(port: int, proxy: subprocess.Popen) -> None:
    """Wait until the proxy takes connections. Raises RuntimeError if it does not."""
    end = time.monotonic() + MAX_START
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=MAX_START).close()
            return
        except ConnectionRefusedError as error:
            if time.monotonic() > end or proxy.poll() is not None:
                raise RuntimeError("HAProxy does not start.") from error
            time.sleep(0.1)
