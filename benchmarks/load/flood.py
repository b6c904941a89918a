"""python -m benchmarks.load.flood: what a flood of requests from one address costs another.

A rater opens the page of a test every 50 ms, while somebody at another address sends requests
without a pause on many connections, from a process of lower priority. Prints a table.
"""

import asyncio
import multiprocessing
import os
import re
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.load.attackers import NICE
from benchmarks.support.listening import write_test
from benchmarks.support.served import Served

TEST: Final = "ab"
CONNECTIONS: Final = (0, 20, 100, 290)
SECONDS: Final = 10.0
STARTING: Final = 2.0  # seconds until the flood's process sends
PAUSE: Final = 0.05
LENGTH: Final = re.compile(r"content-length: (\d+)", re.IGNORECASE)


async def ask_until(ends: float, pause: float, port: int, source: str, path: str) -> list[float]:
    """Ask for one path on a connection from an address of this machine → seconds that each answer
    took. An HTTP client would take longer than the server."""
    took = []
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    with closing(writer):
        while time.monotonic() < ends:
            began = time.monotonic()
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            if length := LENGTH.search(head):
                await reader.readexactly(int(length[1]))
            took.append(time.monotonic() - began)
            await asyncio.sleep(pause)
    return took


def flood(port: int, connections: int, seconds: float) -> None:
    """Send requests on so many connections. For a process of its own."""
    os.nice(NICE)
    ends = time.monotonic() + seconds

    async def together() -> None:
        arguments = (ends, 0, port, "127.0.3.1", f"/results/{TEST}?key=x")
        await asyncio.gather(*(ask_until(*arguments) for _ in range(connections)))

    asyncio.run(together())


def main() -> None:
    """Measure the flood, and print the table."""
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="load-") as place:
        write_test(Path(place) / TEST, TEST)
        served = Served("app.py", "--preload", "--studies", place)
        try:
            print("| connections that flood | pages | p50 ms | p95 ms |\n|---|---|---|---|")
            for number in CONNECTIONS:
                arguments = (served.port, number, STARTING + SECONDS)
                other = spawn.Process(target=flood, args=arguments, daemon=True)
                other.start()
                time.sleep(STARTING)
                rater = (served.port, "127.0.2.1", f"/listen/{TEST}")
                took = asyncio.run(ask_until(time.monotonic() + SECONDS, PAUSE, *rater))
                other.join()
                p50, p95 = 1000 * np.percentile(took, [50, 95])
                print(f"| {number} | {len(took)} | {p50:.1f} | {p95:.1f} |", flush=True)
        finally:
            served.kill()


if __name__ == "__main__":
    main()
