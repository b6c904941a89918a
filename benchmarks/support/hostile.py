"""Hostile requests to the framework's own routes: half, stalled, too large, too wide, too deep.

Tests send them to a small page, and the attackers of benchmarks.load to the whole app; the fuzzer
damages what is valid of them.
"""

from collections.abc import Mapping
from typing import Final

JSON: Final = {"Content-Type": "application/json"}
MCP: Final = {**JSON, "Accept": "application/json, text/event-stream"}
FORM: Final = {"Content-Type": "multipart/form-data; boundary=x"}
# Below /gradio_api/: they take JSON.
ROUTES: Final = "call/decode call/v2/decode run/decode queue/join reset cancel mcp/".split()
LARGE_BODY: Final = b'{"data":[' + b"[]," * 1_000_000 + b"1]}"  # 3 MB
# Less than a megabyte each.
COSTLY_BODIES: Final[Mapping[str, bytes]] = {
    "lists": b'{"data":[' + b"[]," * 300_000 + b"1]}",
    "objects": b'{"data":[' + b"{}," * 300_000 + b"1]}",
    "depth": b'{"data":' + b"[" * 900_000,
}
HALF_HEADS: Final = (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\nA: b\r\n")
CHUNKED: Final = (
    b"POST /gradio_api/call/decode HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
)
SMALL_CHUNK: Final = b"1\r\nx\r\n"
MANY_LINES: Final = b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"a1:\r\n" * 11_000 + b"\r\n"
END: Final = b"\r\n--x--\r\n"  # of the body of an upload


def upload_part(content: bytes, name: str = "a.wav") -> bytes:
    """Return the body of an upload of one file as FORM declares it, up to its last boundary."""
    head = f'--x\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
    return head.encode() + b"Content-Type: audio/wav\r\n\r\n" + content


# A whole request but for the end of its body, which never comes.
STALLED_UPLOAD: Final = (
    b"POST /gradio_api/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n"
    b"Content-Type: multipart/form-data; boundary=x\r\n\r\n" + upload_part(b"a" * 5000)
)
