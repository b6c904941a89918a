"""The threads in which jobs compute, which give way to those that answer requests.

Where more compute than there are cores, a thread that has little to do waits for milliseconds each
time it wants to go on, and a request wants that many times. Linux keeps a priority for each thread,
and wakes one before all that have a lower. None can be raised again, so each job has a thread of
its own. On other systems all are alike.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
# With each step more, a fifth less of a core that others want as well.
NICE: Final = 10  # of jobs
NICE_OF_LAST: Final = 19  # of jobs of those for whom much was computed

_last: ContextVar[bool] = ContextVar("last", default=False)
_lock = threading.Lock()
_starting: ThreadPoolExecutor | None = None  # a thread that starts processes, with its own priority


@contextmanager
def coming_last(last: bool = True) -> Iterator[None]:
    """Let jobs that begin meanwhile come after those of others, if last is true."""
    token = _last.set(last)
    try:
        yield
    finally:
        _last.reset(token)


def compute(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a thread of lower priority, with the context of the caller, who waits for
    what it returns."""
    _begin_starting()
    nice = NICE_OF_LAST if _last.get() else NICE
    call = partial(copy_context().run, function, *args, **kwargs)
    answer: Future[T] = Future()
    threading.Thread(target=_run, args=[answer, nice, call], name="job", daemon=True).start()
    try:
        return answer.result()
    finally:
        del answer  # or an error, which knows this frame, would keep all that it came from


def _run(answer: Future[T], nice: int, call: Callable[[], T]) -> None:
    if sys.platform == "linux":  # where this is of a thread
        os.setpriority(os.PRIO_PROCESS, 0, max(nice, os.getpriority(os.PRIO_PROCESS, 0)))
    try:
        answer.set_result(call())
    except BaseException as error:  # noqa: BLE001  (whatever it raises, the caller does)
        answer.set_exception(error)
    finally:
        del answer, call  # as above


def start_process(start: Callable[[], T]) -> T:
    """Call what starts a process, from a job with the priority of no job: for as long as it lives,
    a process has that of the thread that started it."""
    return _starting.submit(start).result() if _starting else start()


def _begin_starting() -> None:
    """Make the thread that starts processes, before there are jobs that need it."""
    global _starting
    with _lock:
        if _starting is None:
            starting = ThreadPoolExecutor(1, "starting processes")
            starting.submit(int).result()
            _starting = starting


def _forget() -> None:
    """Start anew in a forked process, which has none of the threads."""
    global _starting, _lock
    _starting, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
