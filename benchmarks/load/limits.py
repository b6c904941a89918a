"""The limits of the app: stalled connections, too many visitors, and files that they leave."""

import socket
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

from benchmarks.load.memory import files
from benchmarks.load.visitor import Visitor
from benchmarks.support.hostile import STALLED_UPLOAD
from benchmarks.support.served import PROXY, Served
from earshot.core.connections import MAX_DEAD
from earshot.core.http import MAX_SILENCE
from earshot.core.paths import ROOT

PROGRAM: Final = ROOT / "app.py"
N_STALLED: Final = 10  # connections
MAX_QUEUE: Final = 4  # --max-queue
N_VISITORS: Final = 20  # visitors
MARGIN: Final = 20.0  # seconds; a busy machine is late
DELETE_AFTER: Final = 65  # --delete-after, in seconds, instead of an hour
PAGE: Final = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def measure() -> list[str]:
    """Measure the limits: rows of a Markdown table, of what was tried and what happened."""
    with tempfile.TemporaryDirectory(prefix="load-") as place:
        temporary = Path(place) / "temporary"
        options = [
            "--preload",
            "--max-queue",
            str(MAX_QUEUE),
            "--studies",
            f"{place}/studies",
            *PROXY,
        ]
        options += ["--delete-after", f"{DELETE_AFTER}s"]
        environment = {"GRADIO_TEMP_DIR": str(temporary)}
        served = Served(str(PROGRAM), *options, environment=environment)
        try:
            rows = [_full_queue(served.address)]
            rows += [_stalled(served.port, temporary), _abandoned(served, temporary)]
        finally:
            served.kill()
    return rows


def _full_queue(address: str) -> str:
    messages: list[str] = []

    def convert(number: int) -> None:
        try:
            Visitor(address, number).call("convert")
            messages.append("done")
        except RuntimeError as error:  # a busy machine's may also fail
            messages.append(str(error))

    threads = [threading.Thread(target=convert, args=[n]) for n in range(N_VISITORS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [each for each in messages if each != "done"]
    refusals = " / ".join(sorted({*refused}))
    what = f"{N_VISITORS} conversions at once with --max-queue {MAX_QUEUE}"
    return f"| {what} | {len(messages) - len(refused)} done, {len(refused)} told “{refusals}” |"


def _stalled(port: int, temporary: Path) -> str:
    """Stop uploads in the middle, ask for pages that nobody reads, and count what is cut: a row."""
    before = {*files(temporary)}
    sent = [
        _connection(port, request) for request in (STALLED_UPLOAD, PAGE) for _ in range(N_STALLED)
    ]
    time.sleep(max(MAX_SILENCE, MAX_DEAD) + MARGIN)
    cut = sum(_is_cut(connection) for connection in sent)
    left = len({*files(temporary)} - before)
    what = f"{N_STALLED} uploads that stop, {N_STALLED} pages that nobody reads"
    return f"| {what} | {cut} of {len(sent)} cut within {MAX_DEAD:g} s, {left} files left |"


def _connection(port: int, request: bytes) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", port))
    connection.sendall(request)
    return connection


def _is_cut(connection: socket.socket) -> bool:
    """Say whether the server has ended the connection."""
    connection.settimeout(MARGIN)
    try:
        while connection.recv(65_536):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    finally:
        connection.close()
    return True


def _abandoned(served: Served, temporary: Path) -> str:
    """Count the files of a visitor who left, and of an app that was killed: two rows."""
    before = {*files(temporary)}
    visitor = Visitor(served.address)
    visitor.call("convert")
    visitor.call("lip_to_speech")
    used = len({*files(temporary)} - before)
    visitor.client.close()
    time.sleep(DELETE_AFTER + MARGIN)
    later = len({*files(temporary)} - before)
    Visitor(served.address).call("convert")
    old = {*files(temporary)}
    served.kill()
    served.start()
    left = len({*files(temporary)} & old)
    what = f"files of a visitor, and {DELETE_AFTER:g} s after (in place of an hour)"
    return (
        f"| {what} | {used}, then {later} |\n"
        f"| files of an app that was killed, after the next start | {len(old)}, then {left} |"
    )
