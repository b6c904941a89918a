"""Live conversions in processes of their own, so that nothing in the app can make them wait.

In a thread, every one of the hundreds of small steps of a hop would wait for whatever Python code
runs next to it. Loads no torch: its processes do.
"""

import atexit
import base64
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.core.errors import InputError
from earshot.media.workers.processes import Pool, WorkerProcess
from earshot.pretrained.voice import Correction, Nobody, Voice
from earshot.systems.voice_conversion.settings import DEFAULT_VOICE, INTONATIONS

MIN_RATE: Final = 8_000  # Hz, of a microphone
MAX_RATE: Final = 192_000
MAX_START_SECONDS: Final = 300.0  # on a machine that is very busy
MAX_WAIT_SECONDS: Final = 10.0  # for an answer, before the process is given up


def check_rate(rate: int) -> None:
    """Check the rate of a microphone, in Hz. Raises InputError for one that no device has."""
    if not MIN_RATE <= rate <= MAX_RATE:
        raise InputError(f"A microphone at {rate} Hz cannot be used.")


@dataclass(frozen=True, eq=False)
class Choice:
    """A choice of how to speak. voice: a name, a person's own, or nobody's; other: one that is
    blended in, its share from 0 to 1; model: one of LiveNetworks.models, None for the first;
    intonation: one of settings.INTONATIONS, where the networks can keep it.
    """

    voice: str | Voice | Nobody = DEFAULT_VOICE
    other: str | Voice | None = None
    share: float = 0.0
    model: str | None = None
    intonation: str = INTONATIONS[0]

    def document(self) -> dict[str, Any]:
        """Write the choice as JSON has it; from_document reads it."""
        voices = {"voice": _document_of(self.voice), "other": _document_of(self.other)}
        rest = {"share": self.share, "model": self.model, "intonation": self.intonation}
        return voices | rest

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Choice":
        """Read a choice; it trusts what document gave."""
        voices = {name: _voice(document[name]) for name in ("voice", "other")}
        return cls(**document | voices)


def _document_of(voice: str | Voice | Nobody | None) -> Any:
    if isinstance(voice, Nobody):
        return asdict(voice)
    if not isinstance(voice, Voice):
        return voice
    corrections = [
        {"share": share, "content": _text(c.content), "error": _text(c.error), "loudest": c.loudest}
        for share, c in voice.corrections
    ]
    plain = asdict(replace(voice, corrections=()))
    return plain | {"vector": voice.vector.tolist(), "corrections": corrections}


def _voice(document: Any) -> Any:
    if not isinstance(document, dict):
        return document
    if "seed" in document:
        return Nobody(**document)
    corrections = tuple(
        (c["share"], Correction(_array(c["content"]), _array(c["error"]), c["loudest"]))
        for c in document["corrections"]
    )
    vector = np.array(document["vector"], np.float32)
    return Voice(**document | {"vector": vector, "corrections": corrections})


def _text(rows: np.ndarray) -> dict[str, Any]:
    data = base64.b64encode(rows.astype(np.float16).tobytes()).decode("ascii")
    return {"width": rows.shape[1], "float16": data}


def _array(document: dict[str, Any]) -> np.ndarray:
    numbers = np.frombuffer(base64.b64decode(document["float16"]), np.float16)
    return numbers.reshape(-1, document["width"]).astype(np.float32)


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
        self._choice: dict[str, Any] | None = None  # that it has

    def wait_until_ready(self, seconds: float = MAX_START_SECONDS) -> None:
        """Wait until the networks are loaded. Several threads may wait."""
        super().wait_until_ready(seconds)

    def begin(self, rate: int, choice: Choice) -> None:
        """Begin a new session, and end the one before. rate: of the device in Hz.

        Raises InputError for a rate or a choice that does not exist.
        """
        self.send({"begin": rate, **self._changed(choice)})
        self._answer()

    def push(self, samples: np.ndarray, choice: Choice) -> tuple[dict, np.ndarray]:
        """Convert float32 samples (T,) → those to be played, (T',), and about them: their units by
        colour, how many samples they are behind, how far they are below the best where the
        machine is busy (0: not), and how many seconds they took.

        Raises InputError for a choice that does not exist.
        """
        data = np.ascontiguousarray(samples, np.float32).data.cast("B")
        self.send({"samples": len(samples), **self._changed(choice)}, data)
        header, spoken = self._answer()
        return header, spoken if spoken is not None else np.zeros(0, np.float32)

    def _changed(self, choice: Choice) -> dict[str, Any]:
        """Write a choice that it does not have yet: a voice is 80 kB, too much for every hop."""
        document = choice.document()
        if document == self._choice:
            return {}
        self._choice = document
        return {"choice": document}

    def _answer(self) -> tuple[dict, np.ndarray | None]:
        header, array = self.answers(MAX_WAIT_SECONDS).next()
        if "error" in header:
            self._choice = None
            raise InputError(header["error"])
        return header, array


class LiveProcesses(Pool[LiveProcess]):
    """A pool that keeps processes from one session to the next."""

    def __init__(self, checkpoint: Path) -> None:
        super().__init__(lambda: LiveProcess(checkpoint))
        self.checkpoint = checkpoint
        atexit.register(self.close)
