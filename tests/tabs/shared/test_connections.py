"""Uploads that stall or break off."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from earshot.app import launch, site
from earshot.tabs.shared.connections import DEAD, CutStalledBodies
from earshot.tabs.shared.gradio_internals import upload_folder

pytestmark = pytest.mark.slow

SILENT = 0.5  # seconds
PATIENCE = 30.0
BEGUN = (
    b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.wav"\r\n\r\n' + b"a" * 5000
)


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The page without models, in a folder of its own, and in a hurry."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(CutStalledBodies.__init__, "__defaults__", (SILENT, PATIENCE))
    page = site.build("cpu", tmp_path)
    yield launch.launch(page, launch.options([], {}), block=False)
    page.close()


def _begin(address: str) -> socket.socket:
    """A connection on which an upload has begun."""
    place = urlsplit(address)
    connection = socket.create_connection((place.hostname, place.port), PATIENCE)
    head = (
        f"POST /gradio_api/upload HTTP/1.1\r\nHost: {place.netloc}\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 90000\r\n\r\n"
    )
    connection.sendall(head.encode() + BEGUN)
    return connection


def test_upload_that_stalls_is_cut_and_leaves_no_file(address: str) -> None:
    with _begin(address) as connection:
        reply = b""
        while part := connection.recv(10_000):  # until the server closes it
            reply += part
    assert b" 400 " in reply.splitlines()[0] and b"broke off" in reply
    assert [path for path in upload_folder().rglob("*") if path.is_file()] == []
    assert httpx.get(address).status_code == 200


def test_upload_that_goes_on_slowly_arrives(address: str) -> None:
    def slowly() -> Iterator[bytes]:
        yield BEGUN
        for _ in range(4):
            yield b"b"
        yield b"\r\n--x--\r\n"

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    reply = httpx.post(f"{address}gradio_api/upload", content=slowly(), headers=headers)
    assert reply.status_code == 200
    assert len(Path(reply.json()[0]).read_bytes()) == 5004


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux only")
def test_launch_lets_the_kernel_end_dead_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert DEAD == 60
    monkeypatch.setattr(launch, "DEAD", 2)
    page = site.build("cpu", tmp_path)
    place = urlsplit(launch.launch(page, launch.options([], {}), block=False))
    try:
        (listening,) = page.server.servers[0].sockets
        assert listening.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        with socket.socket() as reader:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.settimeout(PATIENCE)
            reader.connect((place.hostname, place.port))
            # More than the buffers between hold, and none of it is read.
            reader.sendall(50 * f"GET / HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
            time.sleep(6)
            with pytest.raises(ConnectionResetError):
                while reader.recv(65_536):
                    pass
    finally:
        page.close()
