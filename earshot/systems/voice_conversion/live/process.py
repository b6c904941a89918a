"""Live conversions in processes of their own, so that nothing in the app can make them wait.

In a thread, every one of the hundreds of small steps of a hop would wait for whatever Python code
runs next to it. Loads no torch: its processes do.
"""

import atexit
from pathlib import Path
from typing import Final

import numpy as np

from earshot.core.errors import InputError
from earshot.media.workers.processes import Pool, WorkerProcess
from earshot.systems.voice_conversion.live.choice import Choice

START_SECONDS: Final = 300.0  # on a machine that is very busy
WAIT_SECONDS: Final = 10.0  # for an answer, before the process is given up


class LiveProcess(WorkerProcess):
    """A process with one session at a time. Its methods block; WorkerError where it is gone or
    late.
    """

    def __init__(self, checkpoint: Path) -> None:
        super().__init__(
            "earshot.systems.voice_conversion.live",
            str(checkpoint.absolute()),
            environment={"OMP_NUM_THREADS": "1"},
        )

    def wait_until_ready(self, seconds: float = START_SECONDS) -> None:
        """Wait until the networks are loaded. Several threads may wait."""
        super().wait_until_ready(seconds)

    def begin(self, rate: int, choice: Choice) -> None:
        """Begin a new session, and end the one before. rate: of the device in Hz.

        Raises InputError for a rate or a choice that does not exist.
        """
        self.send({"begin": rate, "choice": choice.document()})
        self._answer()

    def push(self, samples: np.ndarray, choice: Choice) -> tuple[dict, np.ndarray]:
        """Convert float32 samples (T,) heard → those to be played, (T',), and about them: their
        units by colour, how many samples they are behind, and how many seconds they took.

        Raises InputError for a choice that does not exist.
        """
        data = np.ascontiguousarray(samples, np.float32).data.cast("B")
        self.send({"samples": len(samples), "choice": choice.document()}, data)
        header, spoken = self._answer()
        return header, spoken if spoken is not None else np.zeros(0, np.float32)

    def _answer(self) -> tuple[dict, np.ndarray | None]:
        header, array = self.answers(WAIT_SECONDS).next()
        if "error" in header:
            raise InputError(header["error"])
        return header, array


class LiveProcesses(Pool[LiveProcess]):
    """A pool that keeps processes from one session to the next."""

    def __init__(self, checkpoint: Path) -> None:
        super().__init__(lambda: LiveProcess(checkpoint))
        self.checkpoint = checkpoint
        atexit.register(self.close)
