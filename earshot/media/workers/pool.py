"""The decoding workers that wait for files, as the app sees them."""

import atexit
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.core.errors import InputError, StoppedError
from earshot.media.workers.processes import Pool, WorkerError, WorkerProcess

MAX_WORKERS: Final = max(4, os.cpu_count() or 1)  # at once; further files wait
MAX_IDLE: Final = 2
MAX_FILES: Final = 500  # that one worker decodes before it is replaced, in case FFmpeg leaks
MAX_START_SECONDS: Final = 120.0  # on a machine that is very busy
# Longer than a worker's own limit of CPU seconds, which gives the better message.
MAX_WAIT_SECONDS: Final = 100.0
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


class Worker(WorkerProcess):
    """A process that decodes one file after the other."""

    def __init__(self) -> None:
        super().__init__("earshot.media.workers", environment=ENVIRONMENT)
        self.files = 0

    @property
    def usable(self) -> bool:
        """Whether it can decode another file."""
        return super().usable and self.files < MAX_FILES

    def ask(self, task: str, source: Path | bytes, options: dict[str, Any]) -> Iterator[Message]:
        """Ask about one file: the messages, up to the last. Raises InputError for what is wrong
        with the file, and WorkerError for what happens to the worker."""
        try:
            self.wait_until_ready(MAX_START_SECONDS)
        except WorkerError as error:
            code = self.process.poll()
            raise RuntimeError(f"No decoding worker can be started: {error} ({code}).") from error
        self.files += 1
        data = source if isinstance(source, bytes) else b""
        path = None if isinstance(source, bytes) else os.path.abspath(source)
        self.send({"task": task, "path": path, "size": len(data), "options": options}, data)
        answers = self.answers(MAX_WAIT_SECONDS)
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
        super().close()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            with suppress(BrokenPipeError):  # what was not sent yet
                pipe.close()


def _new_pool() -> Pool[Worker]:
    return Pool(Worker, MAX_WORKERS, MAX_IDLE)


_pool = _new_pool()


def _forget() -> None:
    """Start anew in a forked process, which must not talk to its parent's workers."""
    global _pool
    _pool = _new_pool()


os.register_at_fork(after_in_child=_forget)
atexit.register(lambda: _pool.close())


def warm_up() -> None:
    """Start a worker now, so that the first file does not wait for it; returns at once."""
    _pool.warm_up()


def stream(task: str, source: str | Path | bytes, **options: object) -> Iterator[Message]:
    """Ask a worker what it makes of a file, message by message: a header and, if it has one, an
    array.

    task: "audio", "video", "picture" or "manifest"; options: as the modules of these names next to
    this one take them.
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
