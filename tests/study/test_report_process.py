"""The process in which reports are made."""

import operator
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE
from typing import ClassVar

import pytest

from earshot.core.cancellation import Job, running
from earshot.core.errors import InputError, StoppedError
from earshot.core.paths import ROOT
from earshot.study.design import Test
from earshot.study.report_process import MAX_MEMORY, NICE, ReportProcess, report_process
from tests.support.studies import make_test


def test_report_process_works_elsewhere_at_low_priority() -> None:
    assert report_process()(os.getpid) == report_process()(os.getpid) != os.getpid()
    assert report_process()(os.nice, 0) == min(os.nice(0) + NICE, 19)


def test_report_process_raises_what_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        report_process()(operator.truediv, 1, 0)
    assert report_process()(abs, -1) == 1


def test_ended_process_is_replaced() -> None:
    make = ReportProcess()
    with pytest.raises(RuntimeError, match="has ended"):
        make(os._exit, 1)
    assert make(abs, -1) == 1


def test_stop_ends_what_is_made() -> None:
    """At once, also while it waits for another; whoever comes next gets a new process."""
    make, job = ReportProcess(), Job(60)
    assert make(abs, -1) == 1
    stopped: list[float] = []

    def work() -> None:
        with running(job), pytest.raises(StoppedError):
            make(time.sleep, 3600)
        stopped.append(time.monotonic())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    began = time.monotonic()
    job.stop()
    for thread in threads:
        thread.join(20)
    assert len(stopped) == 2 and max(stopped) - began < 10
    assert make(abs, -2) == 2


def test_endless_analysis_gives_way() -> None:
    """Whoever waits for another gets it."""
    make = ReportProcess(seconds=1.0)
    with pytest.raises(InputError, match="longer, or more memory"):
        make(time.sleep, 3600)
    assert make(abs, -1) == 1
    time.sleep(1.1)
    assert make(abs, -1) == 1, "the time is of one thing, not of all"


def test_server_ends_while_report_is_made() -> None:
    """Nor does the process outlive it for long."""
    script = """
import threading, time
from earshot.study.report_process import ReportProcess
make = ReportProcess(seconds=5.0)
make(abs, -1)
threading.Thread(target=make, args=[time.sleep, 3600], daemon=True).start()
time.sleep(0.2)
print(make._process.pid, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=PIPE, text=True) as run:
        assert run.stdout
        process = int(run.stdout.readline())
        status = Path(f"/proc/{process}/stat")
        assert run.wait(60) == 0 and status.exists()
    ends = time.monotonic() + 60
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < ends
        time.sleep(0.1)


def test_analysis_that_takes_all_memory_ends() -> None:
    with pytest.raises(InputError, match="longer, or more memory"):
        report_process()(bytes, MAX_MEMORY)
    assert report_process()(abs, -1) == 1


class Folder(type(Path())):
    """A folder; while it is sent, others use the test that it is of."""

    tests: ClassVar[list[Test]] = []

    def __reduce__(self) -> tuple[type[Path], tuple[str]]:
        assert self.tests[0].conditions and self.tests[0].rated
        return Path, (str(self),)


def test_test_is_sent_while_raters_use_it() -> None:
    test = replace(make_test(), folder=Folder("folder"))
    Folder.tests[:] = [test]
    assert report_process()(operator.attrgetter("trials"), test) == test.trials
