"""A process in which answers are analysed and reports made: `python -m` this module.

In a thread of the server every request of a rater would wait for the interpreter, again and again,
while tables are computed and figures drawn. The server starts the process when a report is first
asked for; it ends with the server.
"""

import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from multiprocessing.connection import wait
from typing import Final, ParamSpec, TypeVar

from earshot.core import cancellation
from earshot.core.computing import start_process
from earshot.core.errors import InputError, StoppedError
from earshot.core.paths import ROOT

P = ParamSpec("P")
T = TypeVar("T")
NICE: Final = 10  # lower in priority than the server
# One thread of linear algebra: more would take from the raters.
ENVIRONMENT: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
MAX_SECONDS: Final = 120.0  # for one thing: all others wait for it
MAX_TRIAL_SECONDS: Final = 60.0
STOP_SECONDS: Final = 0.2  # after which it is seen that somebody pressed Stop
MAX_MEMORY: Final = 4_000_000_000  # bytes of addresses, of which it uses few
TOO_MUCH: Final = (
    "This takes longer, or more memory, than this server gives it. Whoever runs the server can "
    "make it: python -m earshot study analyse, or export."
)


class TooMuchError(InputError):
    """An error that something takes too much time, or memory."""


class ReportProcess:
    """The process, which makes one thing after the other, as the server sees it."""

    def __init__(self, seconds: float = MAX_SECONDS) -> None:
        """Keep for how many seconds one thing may be made."""
        self._lock, self._seconds = threading.Lock(), seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, make: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function in the process, and wait for what it returns. Raises what it raises,
        TooMuchError where it takes too long or too much memory, StoppedError where the job that
        this is a part of was stopped, and RuntimeError where the process has ended otherwise: the
        next call starts another."""
        while not self._lock.acquire(timeout=STOP_SECONDS):
            cancellation.check()
        try:
            if self._process is None:
                self._process = start_process(_start)
            requests, answers = self._process.stdin, self._process.stdout
            assert requests and answers
            request = pickle.dumps((make, args, kwargs, self._seconds))
            try:
                requests.write(request)
                requests.flush()
                while not wait([answers], STOP_SECONDS):  # type: ignore[list-item]  (has a fileno)
                    cancellation.check()
                answer, error = pickle.load(answers)
            except StoppedError:
                self._process.kill()
                self._process.wait()
                self._process = None
                raise
            except (EOFError, BrokenPipeError, pickle.UnpicklingError) as ended:
                status, self._process = self._process.wait(), None
                # By its own timer, or the kernel for want of memory.
                if status in (-signal.SIGALRM, -signal.SIGKILL):
                    raise TooMuchError(TOO_MUCH) from ended
                raise RuntimeError("the process that makes reports has ended") from ended
        finally:
            self._lock.release()
        if isinstance(error, MemoryError):
            raise TooMuchError(TOO_MUCH)
        if error:
            raise error
        return answer


@cache
def report_process() -> ReportProcess:
    """Return the process of this server for organisers' reports."""
    return ReportProcess()


@cache
def trial_process() -> ReportProcess:
    """Return the process for what visitors try: rehearsals, and ratings from elsewhere."""
    return ReportProcess(MAX_TRIAL_SECONDS)


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **ENVIRONMENT},
        cwd=ROOT,  # where `python -m` looks first, wherever the program was started
    )


def main() -> None:
    """Make what is asked for on standard input, until its end."""
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the server
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # for whatever a library prints
    while True:
        try:
            make, args, kwargs, seconds = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        # Which ends the process, whatever it does, and whether or not the server still waits.
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            answer = pickle.dumps((make(*args, **kwargs), None))
        except Exception as error:  # noqa: BLE001 - whatever it is, the server raises it
            answer = pickle.dumps((None, error))
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(answer)
        answers.flush()


if __name__ == "__main__":
    main()
