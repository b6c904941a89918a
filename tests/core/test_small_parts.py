"""Requests in very small parts, which a server reads in Python while all others wait."""

import h11
import pytest

from earshot.core.connections import MAX_LINES, MAX_SMALL_CHUNKS, MIN_CHUNK, Received

HEAD = b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"


def read(*parts: bytes) -> bytes:
    """The bodies of the requests that these parts are, which come one after the other."""
    connection, body = h11.Connection(h11.SERVER), b""
    connection._receive_buffer = Received()
    for part in parts:
        connection.receive_data(part)
        while (event := connection.next_event()) is not h11.NEED_DATA:
            if isinstance(event, h11.Data):
                body += event.data
            if event is h11.PAUSED or isinstance(event, h11.EndOfMessage):
                connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
                connection.send(h11.EndOfMessage())
                connection.start_next_cycle()
    return body


def chunks(*sizes: int) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (size, size * b"x") for size in sizes)


@pytest.mark.parametrize("size", [1, 8, MIN_CHUNK // 2])
@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"])
def test_body_of_small_chunks_is_refused(size: int, before: bytes) -> None:
    """200,000 chunks of a byte took 2.9 s."""
    with pytest.raises(h11.RemoteProtocolError, match="small chunks"):
        read(before + HEAD + chunks(*[size] * 1000))
    with pytest.raises(h11.RemoteProtocolError, match="small chunks"):
        read(before + HEAD, *[chunks(size)] * 1000)
    with pytest.raises(h11.RemoteProtocolError, match="small chunks"):
        read(before + HEAD, chunks(10 * MIN_CHUNK), chunks(*[size] * 1000))


def test_body_of_usual_chunks_is_read() -> None:
    sizes = [MIN_CHUNK, 3 * MIN_CHUNK, 5, 6_553] * MAX_SMALL_CHUNKS
    whole = HEAD + chunks(*sizes) + b"0\r\n\r\n"
    both = whole + whole
    pieces = [both[start : start + 262_144] for start in range(0, len(both), 262_144)]
    assert len(read(*pieces)) == 2 * sum(sizes)
    few = [1] * (MAX_SMALL_CHUNKS - 1)  # a program that sends a line at a time
    assert len(read(*[HEAD, *map(chunks, few), b"0\r\n\r\n"] * 2)) == 2 * len(few)


@pytest.mark.parametrize(
    "before",
    [
        b"GET / HTTP/1.1\r\nHost: here\r\n",
        b"GET / HTTP/1.1\nHost: here\n",
        b"GET / HTTP/1.1\r\nHost: here\r\n\r\nGET / HTTP/1.1\r\nHost: here\r\n",
        HEAD + chunks(3) + b"0\r\n",  # what may follow a body
    ],
)
def test_head_of_many_lines_is_refused(before: bytes) -> None:
    """55 kB of them took 28 ms each."""
    for line in (b"a: b\r\n", b"a: b\n"):
        assert read(before + (MAX_LINES // 2) * line + b"\r\n") is not None
        for parts in ([before + 11_000 * line + b"\r\n"], [before, *[line] * 200]):
            with pytest.raises(h11.RemoteProtocolError, match="too many lines"):
                read(*parts)


def test_lines_of_body_are_counted_for_no_head() -> None:
    body = 1000 * b"\n"
    head = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\n"
    assert read(head + body + head + body) == 2 * body
    assert read(head[:-2], head[-2:] + body) == body
