"""Live conversions in processes of their own, so that nothing in the app can make them wait.

In a thread, every one of the hundreds of small steps of a hop would wait for whatever Python code
runs next to it. Loads no torch: its processes do.
"""

import atexit
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

import numpy as np

from earshot.core.errors import InputError
from earshot.core.paths import ROOT
from earshot.media.workers.protocol import Answers, WorkerError, send
from earshot.systems.voice_conversion.live.choice import Choice

START_SECONDS: Final = 300.0  # on a machine that is very busy
WAIT_SECONDS: Final = 10.0  # for an answer, before the process is given up

logger = logging.getLogger("earshot")


class LiveProcess:
    """A process with one session at a time. Its methods block; WorkerError where it is gone or
    late.

    ready: whether it has its networks.
    """

    def __init__(self, checkpoint: Path) -> None:
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "earshot.systems.voice_conversion.live",
                str(checkpoint.absolute()),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            cwd=ROOT,  # where `python -m` looks first, wherever the program was started
        )
        self.ready = False
        self._loading = threading.Lock()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def wait_until_ready(self) -> None:
        """Wait until the networks are loaded. Several threads may wait."""
        with self._loading:
            if not self.ready:
                self._answer(START_SECONDS)
                self.ready = True

    def begin(self, rate: int, choice: Choice) -> None:
        """Begin a new session, and end the one before. rate: of the device in Hz.

        Raises InputError for a rate or a choice that does not exist.
        """
        self._send({"begin": rate, "choice": choice.document()})
        self._answer(WAIT_SECONDS)

    def push(self, samples: np.ndarray, choice: Choice) -> tuple[dict, np.ndarray]:
        """Convert float32 samples (T,) heard → those to be played, (T',), and about them: their
        units by colour, how many samples they are behind, and how many seconds they took.

        Raises InputError for a choice that does not exist.
        """
        data = np.ascontiguousarray(samples, np.float32).data.cast("B")
        self._send({"samples": len(samples), "choice": choice.document()}, data)
        header, spoken = self._answer(WAIT_SECONDS)
        return header, spoken if spoken is not None else np.zeros(0, np.float32)

    def close(self) -> None:
        """End the process, at once, whatever it does."""
        self._process.kill()
        self._process.wait()

    def _send(self, header: dict, data: bytes | memoryview = b"") -> None:
        assert self._process.stdin
        try:
            send(self._process.stdin, header, data)  # type: ignore[arg-type]
        except BrokenPipeError:
            raise WorkerError("it ended") from None

    def _answer(self, seconds: float) -> tuple[dict, np.ndarray | None]:
        assert self._process.stdout
        header, array = Answers(self._process.stdout, seconds).next()  # type: ignore[arg-type]
        if "error" in header:
            raise InputError(header["error"])
        return header, array


class LiveProcesses:
    """A pool that keeps processes from one session to the next; it makes them as they are
    needed.
    """

    def __init__(self, checkpoint: Path) -> None:
        self.checkpoint = checkpoint
        self._idle: list[LiveProcess] = []
        self._lock = threading.Lock()
        atexit.register(self.close)

    def warm_up(self) -> None:
        """Start a process now, so that the first session does not wait for it; returns at once."""
        self.give_back(LiveProcess(self.checkpoint), healthy=True)

    @property
    def waiting(self) -> int:
        """Count the processes that wait for a session."""
        return len(self._idle)

    def take(self) -> LiveProcess:
        """Lend a process, which may not be ready yet. Give it back."""
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
        return LiveProcess(self.checkpoint)

    def give_back(self, process: LiveProcess, healthy: bool) -> None:
        """Keep a healthy process for the next session, and end another."""
        if healthy and process.alive:
            with self._lock:
                self._idle.append(process)
        else:
            process.close()

    def close(self) -> None:
        """End the processes that wait."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()
