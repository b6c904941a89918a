"""The jobs of visitors: each has a deadline, and its visitor can stop it between two steps."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import isgeneratorfunction
from typing import Final, ParamSpec, TypeVar

import gradio as gr

from earshot.core.cancellation import Job, running
from earshot.tabs.shared.gradio_internals import session_of_event

P = ParamSpec("P")
T = TypeVar("T")

DEADLINE: Final = 120.0  # seconds that a job may run

_jobs: defaultdict[str, set[Job]] = defaultdict(set)
_lock = threading.Lock()


def stoppable(handler: Callable[P, T], seconds: float | None = None) -> Callable[P, T]:
    """Run the handler, which may be a generator, as a job of the visitor whose event it is, and
    for at most so many seconds (None: DEADLINE)."""

    @wraps(handler)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with _job(seconds) as job, running(job):
            return handler(*args, **kwargs)

    @wraps(handler)
    def stream(*args: P.args, **kwargs: P.kwargs) -> Iterator:
        with _job(seconds) as job:
            steps = iter(handler(*args, **kwargs))  # type: ignore[call-overload]
            while True:
                # Gradio may take every step in another thread.
                with running(job):
                    try:
                        step = next(steps)
                    except StopIteration:
                        return
                yield step

    return stream if isgeneratorfunction(handler) else run  # type: ignore[return-value]


def stop_jobs(request: gr.Request) -> None:
    """Stop what runs for the visitor."""
    with _lock:
        jobs = list(_jobs.get(str(request.session_hash), ()))
    for job in jobs:
        job.stop()


@contextmanager
def _job(seconds: float | None) -> Iterator[Job]:
    session, job = str(session_of_event()), Job(DEADLINE if seconds is None else seconds)
    with _lock:
        _jobs[session].add(job)
    try:
        yield job
    finally:
        with _lock:
            _jobs[session].discard(job)
            if not _jobs[session]:
                del _jobs[session]
