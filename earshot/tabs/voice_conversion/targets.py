"""How a visitor wants to hear speech: the voice, and what makes the waveform and intonation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from earshot.core.errors import InputError
from earshot.pipelines.voice_conversion import settings

if TYPE_CHECKING:
    from earshot.pipelines.voice_conversion import Voice
    from earshot.pipelines.voice_conversion.converter import Converter
    from earshot.pipelines.voice_conversion.reading import Reading

VOICES: Final = {
    "SF1": "woman, lighter",
    "TF2": "woman, fuller",
    "SM1": "man, lighter",
    "TM3": "man, deeper",
    "S1": "man, clipped and quick",
    "Nell": "woman, clear and trained",
    "Odile": "woman, warm, a French speaker",
    "Vera": "woman, bright, a Russian speaker",
}
OWN: Final = "yours"  # the value of the card of the visitor's own voice
ALONE: Final = "none"
NO_OWN: Final = "Read the lines under the voices first: that makes your voice one of them."


@dataclass
class VoiceVisit:
    """What is kept of a visitor: what they were asked to read, how they did, and their voice."""

    reading: "Reading | None" = None
    reference: np.ndarray | None = None  # float32 (T,) at 16 kHz
    voice: "Voice | None" = None

    def clear(self) -> None:
        """Forget all."""
        self.reading = self.reference = self.voice = None


@dataclass(frozen=True)
class Target:
    """The cards that a visitor chose: a voice, another that is blended in, and how much of it."""

    name: str
    other: str = ALONE
    share: float = 0.0  # 0 to 1
    visit: VoiceVisit | None = None

    @property
    def label(self) -> str:
        """For people, and for the name of a system in a listening test."""
        one, other = ("your voice" if name == OWN else name for name in (self.name, self.other))
        if self.other == ALONE or self.share == 0:
            return one
        return f"{one} {1 - self.share:.0%} + {other} {self.share:.0%}"

    def of(self, converter: "Converter") -> "str | Voice":
        """What the converter takes as its target.

        Raises InputError for a voice that is not there, and for a blend by a model that has none.
        """
        if self.other == ALONE or self.share == 0:
            return self._voice(converter, self.name) if self.name == OWN else self.name
        return self._voice(converter, self.name).blend(
            self._voice(converter, self.other), self.share
        )

    def _voice(self, converter: "Converter", name: str) -> "Voice":
        if name == OWN:
            if not self.visit or not self.visit.voice:
                raise InputError(NO_OWN)
            return self.visit.voice
        if not isinstance(converter.voices, Mapping):
            raise InputError(f"{converter.name} cannot blend voices. Choose another model.")
        if name not in converter.voices:
            known = ", ".join(settings.VOICES)
            raise InputError(f"There is no voice {name}. Choose one of {known}.")
        return converter.voices[name]


@dataclass(frozen=True)
class Speaking:
    """How units are to be spoken, as a visitor chose."""

    target: Target
    vocoder: str
    intonation: str

    @classmethod
    def of(
        cls,
        voice: str,
        other: str,
        share: float,
        visit: VoiceVisit | None,
        vocoder: str,
        intonation: str,
    ) -> "Speaking":
        """From the values of the components, in their order."""
        return cls(Target(voice, other, share, visit), vocoder, intonation)

    def suits(self, pipeline: "Converter") -> bool:
        """Whether the pipeline has the voice that was chosen."""
        plain = self.target.other == ALONE and self.target.name in pipeline.voices
        return plain or isinstance(pipeline.voices, Mapping)

    def choices(self, pipeline: "Converter") -> tuple[Any, str, str]:
        """The target, vocoder and intonation that a pipeline is given: a model that cannot keep
        the intonation predicts it."""
        can = self.intonation in pipeline.intonations
        intonation = self.intonation if can else pipeline.intonations[0]
        return self.target.of(pipeline), self.vocoder, intonation
