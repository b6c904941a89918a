"""The decoding workers that wait for files, as the app sees them."""

import atexit
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from earshot.core import cancellation
from earshot.core.errors import InputError, StoppedError
from earshot.core.paths import ROOT
from earshot.media.workers.protocol import POLL, Answers, WorkerError, send

MAX_WORKERS: Final = max(4, os.cpu_count() or 1)  # at once; further files wait
MAX_IDLE: Final = 2
MAX_FILES: Final = 500  # that one worker decodes before it is replaced, in case FFmpeg leaks
START_SECONDS: Final = 120.0  # on a machine that is very busy
# Longer than a worker's own limit of CPU seconds, which gives the better message.
WAIT_SECONDS: Final = 100.0
BROKEN: Final = (
    "This file cannot be decoded: it is damaged, or too large for this demo. "
    "Export it again, for example as WAV or MP4, and shorter."
)
# One thread of linear algebra and few heaps, or the limit on memory counts what is never used.
ENVIRONMENT: Final = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}

logger = logging.getLogger("earshot")
Message = tuple[dict[str, Any], np.ndarray | None]


class Worker:
    """One process, ``python -m earshot.media.workers``."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "earshot.media.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ENVIRONMENT},
            cwd=ROOT,  # where `python -m` looks first, wherever the program was started
        )
        self.files = 0
        self._ready = False

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def ask(self, task: str, source: Path | bytes, options: dict[str, Any]) -> Iterator[Message]:
        """Ask about one file: the messages, up to the last. Raises InputError for what the worker
        says about the file, and WorkerError for what happens to the worker."""
        self._wait_until_ready()
        self.files += 1
        data = source if isinstance(source, bytes) else b""
        path = None if isinstance(source, bytes) else os.path.abspath(source)
        request = {"task": task, "path": path, "size": len(data), "options": options}
        try:
            send(self._pipe(self.process.stdin), request, data)
        except BrokenPipeError:
            raise WorkerError("it ended") from None
        answers = Answers(self._pipe(self.process.stdout), WAIT_SECONDS)
        while True:
            header, array = answers.next()
            match header:
                case {"end": True}:
                    return
                case {"error": str(message), "advice": str(advice)}:
                    raise InputError(message, advice)
                case {"bug": str(traceback)}:
                    logger.error("decoding failed in a way that nobody foresaw\n%s", traceback)
                    raise InputError(BROKEN)
            yield header, array

    def close(self) -> None:
        """End the process, at once, whatever it does."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                self._pipe(pipe).close()
            except BrokenPipeError:  # what was not sent yet
                continue

    def _wait_until_ready(self) -> None:
        if self._ready:
            return
        try:
            Answers(self._pipe(self.process.stdout), START_SECONDS).next()
        except WorkerError as error:
            code = self.process.poll()
            raise RuntimeError(f"No decoding worker can be started: {error} ({code}).") from error
        self._ready = True

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> Any:
        assert pipe is not None
        return pipe


class Pool:
    """A pool that lends workers; it makes them as they are needed, and a new one for each that
    broke.
    """

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._count = 0
        self._closed = False
        self._changed = threading.Condition()

    def warm_up(self) -> None:
        """Start a worker, if none waits; returns at once."""
        with self._changed:
            if not self._idle and self._count < MAX_WORKERS:
                self._idle.append(self._start())

    def take(self) -> Worker:
        """Lend a worker for one file; wait while all are busy. Raises StoppedError where the job is
        stopped before."""
        with self._changed:
            while True:
                while self._idle:
                    worker = self._idle.pop()
                    if worker.alive:
                        return worker
                    self._count -= 1
                if self._count < MAX_WORKERS:
                    return self._start()
                cancellation.check()
                self._changed.wait(POLL)

    def give_back(self, worker: Worker, healthy: bool) -> None:
        """Take a worker back; one that is not healthy is ended, and replaced if none waits."""
        keep = healthy and worker.files < MAX_FILES and len(self._idle) < MAX_IDLE
        if not keep:
            worker.close()
        with self._changed:
            if keep:
                self._idle.append(worker)
            else:
                self._count -= 1
            self._changed.notify()
            if not keep and not self._idle and not self._closed:
                with suppress(OSError):  # the next file starts one
                    self._idle.append(self._start())

    def close(self) -> None:
        """End the workers that wait."""
        with self._changed:
            self._closed = True
            while self._idle:
                self._idle.pop().close()
                self._count -= 1

    def _start(self) -> Worker:
        worker = Worker()
        self._count += 1
        return worker


_pool = Pool()


def _forget() -> None:
    """Start anew in a forked process, which must not talk to its parent's workers."""
    global _pool
    _pool = Pool()


os.register_at_fork(after_in_child=_forget)
atexit.register(lambda: _pool.close())


def warm_up() -> None:
    """Start a worker now, so that the first file does not wait for it; returns at once."""
    _pool.warm_up()


def stream(task: str, source: str | Path | bytes, **options: object) -> Iterator[Message]:
    """Ask a worker what it makes of a file, message by message: a header and, if it has one, an
    array.

    task: "audio" or "video"; options: as the modules audio and video next to this one take them.
    Raises InputError for a file that cannot be decoded, for whatever reason; RuntimeError if
    workers cannot be started at all.
    """
    pool, healthy = _pool, False
    worker = pool.take()
    try:
        data = source if isinstance(source, bytes) else Path(source)
        yield from worker.ask(task, data, options)
        healthy = True
    except StoppedError:
        raise
    except InputError:
        healthy = True
        raise
    except WorkerError as error:
        logger.warning("a decoding worker was replaced: %s (%s)", error, worker.process.poll())
        raise InputError(BROKEN) from None
    finally:
        pool.give_back(worker, healthy)
