"""The rate of a microphone, and the choices that may change while a stream is spoken: the voice,
the bits, the intonation."""

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from earshot.core.errors import InputError
from earshot.pretrained.voice import Voice
from earshot.systems.voice_conversion.settings import DEFAULT_VOICE, INTONATIONS

MIN_RATE: Final = 8_000  # Hz
MAX_RATE: Final = 192_000


def check_rate(rate: int) -> None:
    """Check the rate of a microphone, in Hz. Raises InputError for one that no device has."""
    if not MIN_RATE <= rate <= MAX_RATE:
        raise InputError(f"A microphone at {rate} Hz cannot be used.")


@dataclass(frozen=True, eq=False)
class Choice:
    """A choice of how to speak. voice: a name, or somebody's own; other: one that is blended in,
    its share from 0 to 1; model: one of LiveNetworks.models, None for the first; intonation: one of
    settings.INTONATIONS, where the networks can keep it.
    """

    voice: str | Voice = DEFAULT_VOICE
    other: str | Voice | None = None
    share: float = 0.0
    model: str | None = None
    intonation: str = INTONATIONS[0]

    def document(self) -> dict[str, Any]:
        """Write the choice as JSON has it; from_document reads it."""
        voices = {"voice": _described(self.voice), "other": _described(self.other)}
        rest = {"share": self.share, "model": self.model, "intonation": self.intonation}
        return voices | rest

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Choice":
        """Read a choice; it trusts what document gave."""
        voices = {name: _voice(document[name]) for name in ("voice", "other")}
        return cls(**document | voices)


def _described(voice: str | Voice | None) -> Any:
    if not isinstance(voice, Voice):
        return voice
    return asdict(voice) | {"vector": voice.vector.tolist()}


def _voice(described: Any) -> Any:
    if not isinstance(described, dict):
        return described
    vector = np.array(described["vector"], np.float32)
    return Voice(described["name"], vector, described["pitch_mean"], described["pitch_std"])
