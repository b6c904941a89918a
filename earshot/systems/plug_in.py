"""A plug-in: a system of the operator's own, behind a guard. What it does wrong is named in one
sentence with its name, and stays its own: the app and the other systems go on.

Its calls run one at a time, in a thread of this process, or, where the file asks for it by
``isolated=True``, in a process of its own, which is ended at the deadline. A plug-in is the
operator's own code, and none of this is a sandbox.
"""

import atexit
import contextvars
import ctypes
import logging
import multiprocessing
import os
import signal
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from math import inf
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from earshot.core import cancellation
from earshot.core.computing import start_process
from earshot.core.errors import InputError, PlugInError, StoppedError

MAX_SECONDS: Final = 120.0  # of a call
MAX_LOAD_SECONDS: Final = 600.0  # until a system is loaded, which may be large
MAX_MEMORY: Final = 8 * 1024**3  # bytes that it may add
POLL: Final = 0.1  # seconds between two looks at time, memory and whether the visitor still waits
PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

logger = logging.getLogger("earshot")
# Until when, of time.monotonic(), all calls have to end that are made here, and after how long.
_limit: ContextVar[tuple[float, float]] = ContextVar("limit", default=(inf, inf))


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Give the calls of plug-ins that are made inside so many seconds in all, loading too: others
    wait for what is done here."""
    token = _limit.set((time.monotonic() + seconds, seconds))
    try:
        yield
    finally:
        _limit.reset(token)


class PlugIn:
    """A plug-in, loaded when it is first used. label: what a menu calls it; load: makes it; file:
    that registered it; isolated: whether it runs in a process of its own, to which ``load`` is
    sent.
    """

    def __init__(
        self,
        label: str,
        load: Callable[[], Any],
        file: Path,
        isolated: bool = False,
        max_seconds: float = MAX_SECONDS,
        max_load_seconds: float = MAX_LOAD_SECONDS,
        max_memory: int = MAX_MEMORY,
    ) -> None:
        self.label, self.file = label, file
        self._max_seconds, self._max_load_seconds = max_seconds, max_load_seconds
        self._max_memory = max_memory
        self._runner = (ProcessRunner if isolated else ThreadRunner)(load, file)
        self._lock = threading.Lock()

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the system, "__call__" for the system itself.

        Raises PlugInError for what it raises, without an answer in time, and for more memory than
        it may have; StoppedError where the visitor stopped the job.
        """
        return self._run(method, arguments, self._max_seconds)

    def has(self, method: str) -> bool:
        """Whether the system has a method: what it lacks is not offered."""
        return self._run("has", (method,), self._max_seconds)

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute of the system, such as its voices."""
        return self._run("attribute", (name, default), self._max_seconds)

    def loaded(self) -> Any:
        """Return the system itself, loaded; None where it is in a process of its own."""
        return self._run("loaded", (), self._max_seconds)

    def _run(self, what: str, arguments: tuple[Any, ...], seconds: float) -> Any:
        ends = min(time.monotonic() + seconds, _limit.get()[0])
        while not self._lock.acquire(timeout=POLL):
            cancellation.check()
            if time.monotonic() > ends:
                raise PlugInError(f"{self.label} is still busy. Try the other systems meanwhile.")
        try:
            if self._runner.lost:
                raise PlugInError(
                    f"{self.label} is still busy with what it did not finish in time. Try the "
                    "other systems meanwhile."
                )
            longest = seconds if self._runner.is_loaded else self._max_load_seconds
            self._runner.begin(what, arguments)
            try:
                self._wait(longest)
            except InputError:
                self._runner.give_up()
                raise
            return self._runner.result()
        except CallError as error:
            logger.warning("%s failed: %s", self.label, error.details)
            raise PlugInError(f"{self.label} {error}") from None
        finally:
            self._lock.release()

    def _wait(self, seconds: float) -> None:
        last, shorter = _limit.get()
        ends, before = min(time.monotonic() + seconds, last), self._runner.memory()
        while not self._runner.wait(POLL):
            cancellation.check()
            if time.monotonic() > ends:
                limit = min(seconds, shorter)
                raise PlugInError(f"{self.label} gave no answer within {limit:g} s.")
            if self._runner.memory() - before > self._max_memory:
                gigabytes = self._max_memory / 1024**3
                raise PlugInError(f"{self.label} took more than {gigabytes:g} GB of memory.")


class CallError(Exception):
    """A fault in a plug-in's own code; details: for the log, its traceback."""

    def __init__(self, message: str, details: str) -> None:
        super().__init__(message, details)
        self.details = details

    def __str__(self) -> str:
        return str(self.args[0])

    @classmethod
    def of(cls, error: BaseException, file: Path) -> "CallError":
        """Describe an error by its kind and the line of the plug-in's file that it passed. Its own
        words, which may name what visitors gave, are for the log, but for those of an InputError.
        """
        details = "".join(traceback.format_exception(error))
        if isinstance(error, InputError):
            with suppress(Exception):  # one of its own kind may not say anything
                return cls(f"says: {error}", details if error.__cause__ else str(error))
        return cls(f"failed: {describe(error, file)}.", details)


def describe(error: BaseException, file: Path) -> str:
    """Write the kind of an error, and in which line of the file it came up: "ValueError in my.py,
    line 12".
    """
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    if isinstance(error, SyntaxError) and error.filename == str(file):
        lines.append(error.lineno)
    where = f", line {lines[-1]}" if lines else ""
    return f"{type(error).__name__} in {file.name}{where}"


class Instance:
    """A plug-in as it is loaded where it runs."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load
        self._loaded: list[Any] = []

    def answer(self, what: str, arguments: tuple[Any, ...]) -> Any:
        """Load the system, if it is not, and answer a call."""
        if not self._loaded:
            self._loaded.append(self._load())
        system = self._loaded[0]
        match what:
            case "loaded":
                return system
            case "has":
                return callable(getattr(system, arguments[0], None))
            case "attribute":
                return getattr(system, *arguments)
        if (method := getattr(system, what, None)) is None:
            raise InputError(f"There is no {what} in {type(system).__name__}.")
        return method(*arguments)


class Runner(ABC):
    """A place where a system runs, one call at a time. lost: whether it is still busy with a call
    that was given up; is_loaded: whether the system is there.
    """

    is_loaded = False

    @property
    def lost(self) -> bool:
        return False

    @abstractmethod
    def begin(self, what: str, arguments: tuple[Any, ...]) -> None:
        """Begin a call."""

    @abstractmethod
    def wait(self, seconds: float) -> bool:
        """Wait so long for its end, and return whether it has come."""

    @abstractmethod
    def result(self) -> Any:
        """Return what the call returned. Raises CallError for what it raised."""

    @abstractmethod
    def give_up(self) -> None:
        """End the call, as far as that can be done."""

    @abstractmethod
    def memory(self) -> int:
        """Measure the memory, in bytes, of the process that runs it; 0 where that is unknown."""


class ThreadRunner(Runner):
    """A runner in this process. A call that is given up ends at its next line of Python; one that
    waits inside a library holds its thread, and no other call is begun until it returns.
    """

    def __init__(self, load: Callable[[], Any], file: Path) -> None:
        self._instance, self._file = Instance(load), file
        self._thread: threading.Thread | None = None
        self._answer: Future[Any] = Future()

    @property
    def lost(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def begin(self, what: str, arguments: tuple[Any, ...]) -> None:
        answer = self._answer = Future()
        context = contextvars.copy_context()

        def run() -> None:
            try:
                answer.set_result(context.run(self._instance.answer, what, arguments))
            except BaseException as error:  # noqa: BLE001  (whatever it raises, SystemExit too)
                answer.set_exception(CallError.of(error, self._file))

        self._thread = threading.Thread(target=run, name=f"plug-in {self._file.name}", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            self._answer.exception(seconds)
        return self._answer.done()

    def result(self) -> Any:
        if self._thread:
            self._thread.join()
        value = self._answer.result()
        self.is_loaded = True
        return value

    def give_up(self) -> None:
        if self._thread and self._thread.ident:
            ident, error = ctypes.c_ulong(self._thread.ident), ctypes.py_object(StoppedError)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, error)

    def memory(self) -> int:
        return resident_bytes(os.getpid())


class ProcessRunner(Runner):
    """A runner in a process of its own, which is ended with a call that is given up; the next call
    starts another. It ends with this process.
    """

    def __init__(self, load: Callable[[], Any], file: Path) -> None:
        self._load, self._file = load, file
        self._process: Any = None
        self._pipe: Connection | None = None
        atexit.register(self.give_up)

    def begin(self, what: str, arguments: tuple[Any, ...]) -> None:
        if self._process is None or not self._process.is_alive():
            context = multiprocessing.get_context("spawn")
            self._pipe, other = context.Pipe()
            self._process = context.Process(
                target=serve, args=(other, self._load, self._file)
            )  # no daemon, for it may start processes, too
            start_process(self._process.start)
            other.close()
        assert self._pipe
        with suppress(BrokenPipeError):
            self._pipe.send((what, arguments))

    def wait(self, seconds: float) -> bool:
        assert self._pipe
        return self._pipe.poll(seconds)

    def result(self) -> Any:
        assert self._pipe
        try:
            value, error = self._pipe.recv()
        except (EOFError, ConnectionError):
            self.give_up()
            raise CallError("ended without an answer.", "its process is gone") from None
        except Exception as error:  # noqa: BLE001  (whatever its classes do)
            self.give_up()
            raise CallError(
                "returned what cannot be read outside of its process.", repr(error)
            ) from None
        if error:
            raise error
        self.is_loaded = True
        return value

    def give_up(self) -> None:
        if self._process:
            with suppress(OSError, AttributeError):  # what it started, too
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.join()
        self._process, self.is_loaded = None, False

    def memory(self) -> int:
        return resident_bytes(self._process.pid) if self._process else 0


def serve(pipe: Connection, load: Callable[[], Any], file: Path) -> None:
    """Answer calls until the pipe closes; the main function of a plug-in's own process."""
    if hasattr(os, "setsid"):
        os.setsid()  # with all that it starts, it can be ended as one
    instance, process = Instance(load), os.getpid()
    while True:
        try:
            what, arguments = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            value = instance.answer(what, arguments)
            if os.getpid() != process:  # it forked, and this is the other
                os._exit(0)
            pipe.send((None if what == "loaded" else value, None))
        except BaseException as error:  # noqa: BLE001
            pipe.send((None, CallError.of(error, file)))


def resident_bytes(process: int) -> int:
    """Return the memory that a process holds; 0 where the system has no /proc."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE_BYTES
    return 0
