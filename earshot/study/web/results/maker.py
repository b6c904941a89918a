"""python -m earshot.study.web.results.maker: a process in which reports are made.

In a thread of the server every request of a rater would wait for the interpreter, again and again,
while tables are computed and figures drawn. The server starts the process when a report is first
asked for; it ends with the server.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Final, ParamSpec, TypeVar

from earshot.core.paths import ROOT

P = ParamSpec("P")
T = TypeVar("T")
NICE: Final = 10  # lower in priority than the server
# One thread of linear algebra: more would take from the raters.
ENVIRONMENT: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Maker:
    """The process, which makes one thing after the other, as the server sees it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, make: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function in the process, and wait for what it returns. Raises what it raises,
        and RuntimeError where the process has ended meanwhile: the next call starts another."""
        with self._lock:
            if self._process is None:
                self._process = _started()
            asked, answers = self._process.stdin, self._process.stdout
            assert asked and answers
            request = pickle.dumps((make, args, kwargs))
            try:
                asked.write(request)
                asked.flush()
                answer, error = pickle.load(answers)
            except (EOFError, BrokenPipeError) as ended:
                self._process.kill()
                self._process = None
                raise RuntimeError("the process that makes reports has ended") from ended
        if error:
            raise error
        return answer


@cache
def maker() -> Maker:
    """Give the one process of this server."""
    return Maker()


def _started() -> subprocess.Popen[bytes]:
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the server
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # for whatever a library prints
    while True:
        try:
            make, args, kwargs = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = pickle.dumps((make(*args, **kwargs), None))
        except Exception as error:  # noqa: BLE001 - whatever it is, the server raises it
            answer = pickle.dumps((None, error))
        answers.write(answer)
        answers.flush()


if __name__ == "__main__":
    main()
