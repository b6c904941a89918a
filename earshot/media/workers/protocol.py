"""Messages between the app and a decoding worker: a JSON header, then an array's bytes.

Never pickle: a worker that was taken over by a hostile file must not be able to run code here.
"""

import json
import select
import struct
import time
from math import prod
from os import readv
from typing import BinaryIO, Final

import numpy as np

from earshot.core import cancellation

LENGTH: Final = struct.Struct(">I")
MAX_HEADER: Final = 65_536  # bytes
MAX_ARRAY: Final = 64 * 2**20  # bytes
TYPES: Final = ("float32", "uint8")
POLL: Final = 0.5  # seconds between two looks at whether the job was stopped


class WorkerError(Exception):
    """A worker that is gone, late, or says what it should not."""


def send(pipe: BinaryIO, header: dict, data: bytes | memoryview = b"") -> None:
    """Write one message: the header and the bytes that belong to it."""
    text = json.dumps(header).encode()
    pipe.write(LENGTH.pack(len(text)) + text)
    pipe.write(data)
    pipe.flush()


def send_array(pipe: BinaryIO, header: dict, array: np.ndarray) -> None:
    """Write one message with an array of one of TYPES."""
    array = np.ascontiguousarray(array)
    header = {**header, "dtype": array.dtype.name, "shape": array.shape}
    send(pipe, header, array.data.cast("B") if array.size else b"")


def receive(pipe: BinaryIO) -> dict | None:
    """Read one header, for the worker, which trusts what it is asked; None at the end."""
    length = pipe.read(LENGTH.size)
    return json.loads(pipe.read(*LENGTH.unpack(length))) if len(length) == LENGTH.size else None


class Answers:
    """A reader of a worker's messages, which trusts none of them.

    ``seconds`` is how long all of them may be waited for; WorkerError afterwards, at the end of
    the pipe, and for a message that is malformed or too large.
    """

    def __init__(self, pipe: BinaryIO, seconds: float) -> None:
        self._file = pipe.fileno()
        self._left = seconds
        self._poll = select.poll()
        self._poll.register(self._file, select.POLLIN)

    def next(self) -> tuple[dict, np.ndarray | None]:
        """Read the next header, and its array if it has one."""
        (length,) = LENGTH.unpack(self._read(LENGTH.size))
        if length > MAX_HEADER:
            raise WorkerError("its header is too long")
        try:
            header = json.loads(self._read(length))
            if "dtype" not in header:
                return header, None
            dtype, shape = header["dtype"], tuple(map(int, header["shape"]))
        except (ValueError, TypeError, KeyError) as error:
            raise WorkerError("its header is malformed") from error
        if dtype not in TYPES or not 1 <= len(shape) <= 3 or min(shape) < 0:
            raise WorkerError("its array is of another kind")
        size = prod(shape) * np.dtype(dtype).itemsize
        if size > MAX_ARRAY:
            raise WorkerError("its array is too large")
        return header, np.ndarray(shape, dtype, self._read(size))

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        view, begun = memoryview(data), time.monotonic()
        while view:
            cancellation.check()
            waited = time.monotonic() - begun
            if waited > self._left:
                raise WorkerError("it is late")
            if self._poll.poll(1000 * min(POLL, self._left - waited)):
                count = readv(self._file, [view])
                if not count:
                    raise WorkerError("it ended")
                view = view[count:]
        self._left -= time.monotonic() - begun
        return data
