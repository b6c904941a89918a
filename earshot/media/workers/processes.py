"""Processes that work for the app, the messages between them and it, and pools of them.

A message is a JSON header, then an array's bytes. Never pickle: a worker that was taken over by a
hostile file must not be able to run code here.
"""

import json
import os
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import inf, prod
from typing import BinaryIO, Final, Generic, TypeVar, cast

import numpy as np

from earshot.core import cancellation
from earshot.core.computing import start_process
from earshot.core.paths import ROOT

LENGTH: Final = struct.Struct(">I")
MAX_HEADER: Final = 65_536  # bytes
MAX_ARRAY: Final = 64 * 2**20  # bytes
TYPES: Final = ("float32", "uint8")
POLL: Final = 0.5  # seconds between two looks at whether the job was stopped


class WorkerError(Exception):
    """A worker that is gone, late, or sends what it should not."""


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
    """Read one header, for the worker, which trusts the app; None at the end."""
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
                count = os.readv(self._file, [view])
                if not count:
                    raise WorkerError("it ended")
                view = view[count:]
        self._left -= time.monotonic() - begun
        return data


class WorkerProcess:
    """A process, ``python -m module``, that answers messages on its standard input. Its first
    message tells that it is ready.
    """

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str]) -> None:
        """Start the process; its environment is ours and what is given."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
            cwd=ROOT,  # where `python -m` looks first, wherever the program was started
        )
        self.ready = False
        self._starting = threading.Lock()

    @property
    def usable(self) -> bool:
        """Whether it can take another task."""
        return self.process.poll() is None

    def wait_until_ready(self, seconds: float) -> None:
        """Wait for its first message. Several threads may wait. Raises WorkerError."""
        with self._starting:
            if not self.ready:
                self.answers(seconds).next()
                self.ready = True

    def send(self, header: dict, data: bytes | memoryview = b"") -> None:
        """Send a message. Raises WorkerError where the process is gone."""
        try:
            send(cast(BinaryIO, self.process.stdin), header, data)
        except BrokenPipeError:
            raise WorkerError("it ended") from None

    def answers(self, seconds: float) -> Answers:
        """Return a reader of its messages, for which to wait so long."""
        return Answers(cast(BinaryIO, self.process.stdout), seconds)

    def close(self) -> None:
        """End the process, at once, whatever it does."""
        self.process.kill()
        self.process.wait()


W = TypeVar("W", bound=WorkerProcess)


class Pool(Generic[W]):
    """A pool that lends processes. It starts them as they are needed, and a new one for each that
    broke.
    """

    def __init__(
        self, start: Callable[[], W], max_workers: float = inf, max_idle: float = inf
    ) -> None:
        """Start none yet. max_workers: at once; who needs another waits; max_idle: that wait."""
        self.start, self.max_workers, self.max_idle = start, max_workers, max_idle
        self._idle: list[W] = []
        self._count = 0
        self._closed = False
        self._changed = threading.Condition()

    def warm_up(self) -> None:
        """Start a process, if none waits; returns at once."""
        with self._changed:
            if not self._idle and self._count < self.max_workers:
                self._idle.append(self._start())

    def take(self) -> W:
        """Lend a process, which may not be ready yet; wait while all are busy. Give it back.
        Raises StoppedError where the job that this code runs in is stopped before.
        """
        with self._changed:
            while True:
                while self._idle:
                    worker = self._idle.pop()
                    if worker.usable:
                        return worker
                    self._count -= 1
                if self._count < self.max_workers:
                    return self._start()
                cancellation.check()
                self._changed.wait(POLL)

    def give_back(self, worker: W, healthy: bool) -> None:
        """Take a process back; one that is not healthy is ended, and replaced if none waits."""
        keep = healthy and worker.usable and len(self._idle) < self.max_idle
        if not keep:
            worker.close()
        with self._changed:
            if keep:
                self._idle.append(worker)
            else:
                self._count -= 1
            self._changed.notify()
            if not keep and not self._idle and not self._closed:
                with suppress(OSError):  # the next task starts one
                    self._idle.append(self._start())

    def close(self) -> None:
        """End the processes that wait."""
        with self._changed:
            self._closed = True
            while self._idle:
                self._idle.pop().close()
                self._count -= 1

    def _start(self) -> W:
        worker = start_process(self.start)
        self._count += 1
        return worker
