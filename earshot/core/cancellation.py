"""Cooperative cancellation: long work asks between two steps whether it should go on.

The caller runs the work inside ``running(job)``; loops call ``check()``, which costs nothing where
there is no job. The job travels in a context variable, so that pipelines need no parameter for it.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from earshot.core.errors import StoppedError

STOPPED: Final = "Stopped."


class Job:
    """One piece of work with a deadline of ``seconds`` from now; ``stop`` ends it earlier."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End the work at its next check, from any thread."""
        self._stopped.set()

    def check(self) -> None:
        """Raise StoppedError if the job was stopped or its deadline has passed."""
        if self._stopped.is_set():
            raise StoppedError(STOPPED)
        if time.monotonic() > self._ends:
            raise StoppedError(
                f"This took longer than {self.seconds:g} s and was stopped. "
                "Try something shorter, or try again when fewer people are here."
            )


_job: ContextVar[Job | None] = ContextVar("job", default=None)


@contextmanager
def running(job: Job) -> Iterator[None]:
    """Run all that is called inside as a part of the job."""
    token = _job.set(job)
    try:
        yield
    finally:
        _job.reset(token)


def check() -> None:
    """Raise StoppedError if the job that this code runs in should end."""
    if job := _job.get():
        job.check()
