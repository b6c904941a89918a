"""Bodies of requests to the framework's own routes: refused before they are parsed."""

import errno
import json
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import gradio as gr
import httpx
import pytest

from benchmarks.support import hostile
from benchmarks.support.hostile import END, FORM, JSON
from earshot.app import launch
from earshot.core import uploads
from earshot.core.errors import InputError
from earshot.core.http import CutStalledBodies
from earshot.core.json_limits import MAX_DEPTH, MAX_JSON_BYTES, MAX_LISTS, MAX_VALUES, check_json
from earshot.core.uploads import FILE_OVERHEAD
from earshot.tabs.shared.gradio_internals import MAX_FIELD_BYTES, MAX_NAME, upload_folder
from tests.support.quickness import quickly
from tests.support.serving import close

pytestmark = pytest.mark.slow

SILENT = 0.5  # seconds
PATIENCE = 30.0
BEGUN = hostile.upload_part(b"a" * 5000)


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A small page, served as the app's is, in a folder of its own, and in a hurry."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(CutStalledBodies.__init__, "__defaults__", (SILENT, PATIENCE))
    with _served() as address:
        yield address


@pytest.fixture(scope="module")
def shared() -> Iterator[str]:
    """The same page for tests of requests that leave nothing behind, in no hurry."""
    with _served() as address:
        yield address


@contextmanager
def _served() -> Iterator[str]:
    with gr.Blocks() as page:
        gr.Button().click(lambda: None, api_name="decode")
        gr.Button().click(lambda: None, queue=False)
    yield launch.launch(page, launch.options([], {}), block=False)
    close(page)


def _begin(address: str) -> socket.socket:
    """A connection on which an upload has begun."""
    place = urlsplit(address)
    connection = socket.create_connection((place.hostname, place.port), PATIENCE)
    connection.sendall(hostile.STALLED_UPLOAD)
    return connection


def _files() -> list[Path]:
    return [path for path in upload_folder().rglob("*") if path.is_file()]


def test_large_body_is_refused_everywhere(shared: str) -> None:
    """Every route refuses a body over a megabyte."""
    for route in (*(f"gradio_api/{name}" for name in hostile.ROUTES), "listen/ab/consent"):
        reply = httpx.post(
            shared + route, content=hostile.LARGE_BODY, headers=JSON, timeout=PATIENCE
        )
        assert (reply.status_code, "Upload a file" in reply.text) == (413, True), route


def test_body_without_length_is_refused(shared: str) -> None:
    """A body of no length is refused while it is read."""
    place, reply = urlsplit(shared), b""
    head = f"POST /gradio_api/call/decode HTTP/1.1\r\nHost: {place.netloc}\r\n"
    with socket.create_connection((place.hostname, place.port), PATIENCE) as connection:
        connection.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(11):
            connection.sendall(b"186a0\r\n" + b"1" * 100_000 + b"\r\n")
        reply = connection.recv(10_000)
    assert b" 413 " in reply.splitlines()[0]


@pytest.mark.parametrize("kind", hostile.COSTLY_BODIES)
def test_many_or_deep_lists_are_refused(shared: str, kind: str) -> None:
    """A body of many or deep lists is refused before it is parsed."""
    body = hostile.COSTLY_BODIES[kind]
    for route in hostile.ROUTES:
        reply = httpx.post(f"{shared}gradio_api/{route}", content=body, headers=JSON)
        assert (reply.status_code, "lists" in reply.text or "values" in reply.text) == (413, True)


def test_request_of_page_passes(shared: str) -> None:
    body = {"data": [], "fn_index": 0, "session_hash": "a"}
    assert httpx.post(f"{shared}gradio_api/queue/join", json=body).status_code == 200


@pytest.mark.parametrize(
    "text",
    [
        b"[" * (MAX_DEPTH + 1),
        b"[],{}," * (MAX_LISTS // 2 + 1),
        b"1," * (MAX_VALUES + 1),
        b" " * (MAX_JSON_BYTES + 1),
        '["a"]'.encode("utf-16"),
        b'"\\"",' + b"[" * (MAX_DEPTH + 1),
        b'"\\\\",' + b"[" * (MAX_DEPTH + 1),
    ],
)
def test_check_json_of_too_much_raises(text: bytes) -> None:
    with pytest.raises(InputError):
        check_json(text)


@pytest.mark.parametrize(
    "text", [b"", b'"', b'"\\', b'"[[[[{{{{' * 25, json.dumps({"a": "[" * 500}).encode(), b"]]["]
)
def test_check_json_passes_brackets_in_strings(text: bytes) -> None:
    """Rubbish passes as well."""
    check_json(text)


@pytest.mark.parametrize("unit", [b'"\\', b'\\"', b'"', b'"a'])
def test_check_json_takes_linear_time(unit: bytes) -> None:
    with quickly():
        check_json(unit * (MAX_JSON_BYTES // len(unit)))


def test_route_no_page_asks_is_unserved(shared: str, capfd: pytest.CaptureFixture[str]) -> None:
    recording = {"video": ("a.webm", b"a" * 5000)}
    called = {"session_hash": "a", "component_id": 1, "fn_name": "x", "data": 0}
    place = f"{shared}gradio_api/"
    replies = [
        httpx.post(f"{place}process_recording", files=recording),
        httpx.post(f"{place}component_server", json=called),
        httpx.post(f"{place}component_server/", files=recording),
        httpx.get(f"{place}custom_component/a%0aforged/client/a/b"),
        httpx.get(f"{place}proxy=https://a.hf.space/file=a"),
        httpx.post(f"{place}api/decode", json={"data": []}),
        httpx.get(f"{place}mcp/http"),
        httpx.get(f"{place}mcp/schema"),
    ]
    assert {(reply.status_code, reply.text) for reply in replies} == {(404, "Not found")}
    assert "forged" not in capfd.readouterr().out


def test_strange_request_writes_a_short_line(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    reply = httpx.post(f"{address}gradio_api/call/v2/decode", json={"a" * 100_000: 1})
    assert (reply.status_code, len(caplog.messages)) == (422, 1)
    assert len(caplog.text) < 1000


def test_stalled_upload_leaves_no_file(address: str) -> None:
    """An upload that stalls is cut."""
    with _begin(address) as connection:
        reply = b""
        while part := connection.recv(10_000):  # until the server closes it
            reply += part
    assert b" 400 " in reply.splitlines()[0] and b"broke off" in reply
    assert _files() == []
    assert httpx.get(address).status_code == 200


def test_upload_that_goes_on_slowly_arrives(address: str) -> None:
    def slowly() -> Iterator[bytes]:
        yield BEGUN
        for _ in range(4):
            yield b"b"
        yield END

    reply = httpx.post(f"{address}gradio_api/upload", content=slowly(), headers=FORM)
    assert reply.status_code == 200
    assert len(Path(reply.json()[0]).read_bytes()) == 5004


def test_upload_without_boundary_leaves_no_file(address: str) -> None:
    """The upload lacks its last boundary."""
    httpx.post(f"{address}gradio_api/upload", content=BEGUN, headers=FORM)
    assert _files() == []


def test_upload_on_full_disk_is_told(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The upload leaves no file."""

    async def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("gradio.route_utils.GradioUploadFile.write", full)
    reply = httpx.post(f"{address}gradio_api/upload", content=BEGUN + END, headers=FORM)
    assert (reply.status_code, "cannot store" in reply.text) == (400, True)
    assert _files() == []


def _field(content: bytes) -> bytes:
    return b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n' + content + b"\r\n"


@pytest.mark.parametrize(
    "fields", [[MAX_FIELD_BYTES + 1], [MAX_FIELD_BYTES // 2 + 1] * 2, [1] * 11]
)
def test_upload_of_much_text_is_refused(shared: str, fields: list[int]) -> None:
    """What is no file stays in memory: one long field, or many."""
    body = b"".join(_field(b"a" * size) for size in fields) + b"--x--\r\n"
    reply = httpx.post(f"{shared}gradio_api/upload", content=body, headers=FORM)
    assert (reply.status_code, "ield" in reply.text) == (400, True)


@pytest.mark.parametrize("codec", ["undefined", "punycode"])
def test_sender_of_upload_chooses_no_codec(address: str, codec: str) -> None:
    """Python's punycode takes quadratic time, in which all others wait."""
    headers = {"Content-Type": f"{FORM['Content-Type']}; charset={codec}"}
    body = _field(b"\xc3\xa9" * 30_000) + BEGUN + END
    reply = httpx.post(f"{address}gradio_api/upload", content=body, headers=headers)
    assert reply.status_code == 200


@pytest.mark.parametrize(
    "kind",
    [
        "multipart/form-data; boundary=x; charset=punycode",
        "Multipart/Form-Data ;boundary=x",
    ],
)
@pytest.mark.parametrize("route", ["login", "gradio_api/queue/join", "listen/ab/consent"])
def test_form_is_for_uploads_only(shared: str, route: str, kind: str) -> None:
    """A form of 900 kB in punycode, to log in, held up all others for 20 s."""
    body = _field(900_000 * b"a") + END
    reply = httpx.post(shared + route, content=body, headers={"Content-Type": kind})
    assert (reply.status_code, "Send JSON" in reply.text) == (415, True)


@pytest.mark.parametrize(("files", "pieces"), [(1000, False), (100, True)])
def test_empty_files_of_upload_count(
    address: str, monkeypatch: pytest.MonkeyPatch, files: int, pieces: bool
) -> None:
    """Each takes a folder, and time whenever uploads are counted; its head may come in pieces."""
    monkeypatch.setattr(uploads, "FILE_CHARGE", 1000 // files * uploads.FILE_CHARGE)
    head = b"--x\r\ncontent-Dispo"
    file = head + b'sition: form-data; name="files"; filename="a.wav"\r\n\r\n\r\n'
    body = files * file + b"--x--\r\n"
    places = [0, *(number * len(file) + len(head) for number in range(files)), len(body)]
    cut = [body[begin:end] for begin, end in pairwise(places)]
    statuses = []
    while 429 not in statuses:
        assert len(statuses) < 12
        content = iter(cut) if pieces else body
        reply = httpx.post(f"{address}gradio_api/upload", content=content, headers=FORM, timeout=60)
        statuses.append(reply.status_code)
    assert len(statuses) > 5


def test_uploads_are_counted_once_a_second(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[Path] = []
    monkeypatch.setattr(uploads, "MAX_AGE", 3600)
    count = uploads.bytes_of_uploads
    monkeypatch.setattr(uploads, "bytes_of_uploads", lambda it: counted.append(it) or count(it))
    for _ in range(3):
        assert httpx.get(f"{address}gradio_api/upload").status_code == 405
        reply = httpx.post(f"{address}gradio_api/upload", content=BEGUN + END, headers=FORM)
        assert reply.status_code == 200
    assert len(counted) == 1


def test_request_of_two_lengths_is_refused(shared: str) -> None:
    """A proxy may believe the other one. The connection ends."""
    place = urlsplit(shared)
    head = f"POST /gradio_api/reset HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: 5\r\n"
    with socket.create_connection((place.hostname, place.port), PATIENCE) as connection:
        connection.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        reply = b""
        while part := connection.recv(10_000):
            reply += part
    assert b" 400 " in reply.splitlines()[0] and b"two lengths" in reply


@pytest.mark.parametrize("route", ["queue/join", "call/decode", "run/predict"])
def test_long_name_of_session_is_refused(shared: str, route: str) -> None:
    """It is kept for an hour."""
    event, refused = (1, 500) if route == "run/predict" else (0, 400)
    for letters, status in ((MAX_NAME, 200), (MAX_NAME + 1, refused)):
        body = {"data": [], "fn_index": event, "session_hash": letters * "a"}
        reply = httpx.post(f"{shared}gradio_api/{route}", json=body)
        assert reply.status_code == status


def test_lost_session_writes_no_traceback(address: str, caplog: pytest.LogCaptureFixture) -> None:
    for path in ("queue/data?session_hash=gone", "call/decode/gone"):
        with suppress(httpx.RemoteProtocolError):  # the answer ends there
            assert "Not Found" in httpx.get(f"{address}gradio_api/{path}").text
    assert caplog.text == ""


@pytest.mark.parametrize(("limit", "stored"), [("MAX_BYTES_OF_UPLOADS", 2), ("MIN_FREE", 0)])
def test_upload_without_room_is_refused(
    address: str, monkeypatch: pytest.MonkeyPatch, limit: str, stored: int
) -> None:
    """The upload leaves no file."""
    monkeypatch.setattr(uploads, limit, 3_000_000 if limit == "MAX_BYTES_OF_UPLOADS" else 1 << 60)
    body = BEGUN + b"b" * 1_200_000 + END
    statuses = [
        httpx.post(f"{address}gradio_api/upload", content=body, headers=FORM).status_code
        for _ in range(4)
    ]
    assert statuses == [200] * stored + [507] * (4 - stored)
    assert len(_files()) == stored


def test_endless_uploads_of_address_are_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MB", 1_000)
    monkeypatch.setattr(uploads, "FILE_CHARGE", 0)
    body = BEGUN + b"b" * 400_000 + END
    statuses = [
        httpx.post(f"{address}gradio_api/upload", content=body, headers=FORM).status_code
        for _ in range(4)
    ]
    assert statuses == [200, 200, 429, 429]


def test_uploads_of_few_leave_room(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MB", 1_000)
    monkeypatch.setattr(uploads, "FILE_CHARGE", 0)
    monkeypatch.setattr(uploads, "MAX_BYTES_OF_UPLOADS", 500_000)
    body = BEGUN + b"b" * 90_000 + END

    def upload(place: str, times: int) -> list[int]:
        transport = httpx.HTTPTransport(local_address=place)
        with httpx.Client(transport=transport, headers=FORM, timeout=PATIENCE) as client:
            send = partial(client.post, f"{address}gradio_api/upload", content=body)
            return [send().status_code for _ in range(times)]

    # One takes nearly half of the room, and gets no more; another's upload still finds some.
    assert upload("127.0.3.1", 4) == [200, 200, 429, 429]
    assert upload("127.0.3.2", 1) == [200]


def test_gone_uploads_leave_no_folder(tmp_path: Path) -> None:
    gone, arriving, full = (tmp_path / f"upload-{name}" for name in ("gone", "arriving", "full"))
    for place in (gone, arriving, full):
        place.mkdir()
    (full / "a.wav").write_bytes(b"RIFF")
    for place in (gone, full):
        os.utime(place, (0, 0))
    assert uploads.bytes_of_uploads(tmp_path) == 4 + FILE_OVERHEAD
    assert {*tmp_path.iterdir()} == {arriving, full}


def test_uploads_are_counted_amid_changes(tmp_path: Path) -> None:
    """Other uploads come and go while the bytes are counted."""
    ended = threading.Event()

    def come_and_go() -> None:
        while not ended.is_set():
            (tmp_path / "upload-a").mkdir()
            (tmp_path / "upload-a" / "a.wav").write_bytes(b"a")
            shutil.rmtree(tmp_path / "upload-a")

    (tmp_path / "upload-b").mkdir()
    (tmp_path / "upload-b" / "b.wav").write_bytes(b"bbb")
    others = threading.Thread(target=come_and_go)
    others.start()
    try:
        counts = {uploads.bytes_of_uploads(tmp_path) for _ in range(5000)}
        assert counts <= {3 + FILE_OVERHEAD, 3 + 2 * FILE_OVERHEAD, 4 + 2 * FILE_OVERHEAD}
    finally:
        ended.set()
        others.join()
