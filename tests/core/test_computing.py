"""Jobs compute in threads that come after all others, and what they start does not."""

import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from contextvars import ContextVar

import pytest

from earshot.core.computing import NICE, NICE_OF_LAST, coming_last, compute, start_process
from earshot.core.errors import InputError

linux = pytest.mark.skipif(sys.platform != "linux", reason="threads have no priorities")
WHO = ContextVar("who", default="nobody")


def priority() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@linux
def test_jobs_come_after_others() -> None:
    own = priority()
    assert compute(priority) == max(own, NICE)
    with coming_last():
        assert compute(priority) == max(own, NICE_OF_LAST)
    with coming_last(False):
        assert compute(priority) == max(own, NICE)
    assert priority() == own, "the caller's own stays"


@linux
def test_process_of_job_comes_before_jobs() -> None:
    """One that decodes for all has not the priority of whoever needed it first."""
    own, read = priority(), [sys.executable, "-c", "import os; print(os.nice(0))"]
    with coming_last():
        started = compute(start_process, lambda: subprocess.run(read, capture_output=True))
    assert int(started.stdout) == own
    assert int(start_process(lambda: subprocess.run(read, capture_output=True)).stdout) == own


def test_job_has_callers_context_and_errors() -> None:
    token = WHO.set("a visitor")
    try:
        assert compute(WHO.get) == "a visitor"
    finally:
        WHO.reset(token)
    with pytest.raises(ZeroDivisionError):
        compute(lambda: 1 / 0)
    with pytest.raises(SystemExit):
        compute(sys.exit)


def test_error_of_job_keeps_nothing() -> None:
    """What a refused recording was decoded to goes with its error, not with the next collection."""

    class Waveform:
        pass

    waveforms: list[weakref.ref[Waveform]] = []

    def fail() -> None:
        waveform = Waveform()
        waveforms.append(weakref.ref(waveform))
        raise InputError("It is silent.")

    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            with suppress(InputError):
                compute(fail)
        until = time.monotonic() + 5  # for the end of the last thread
        while any(reference() for reference in waveforms) and time.monotonic() < until:
            time.sleep(0.01)
        assert [reference() for reference in waveforms] == [None] * 3
    finally:
        gc.enable()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forked_process_starts_processes_itself() -> None:
    compute(int)
    child = os.fork()
    if not child:  # a thread that it waits for is not there
        os._exit(start_process(lambda: 7))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
