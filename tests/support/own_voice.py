"""A visitor's own voice for tests, made as every one is: of a recording and its reading."""

from random import Random
from typing import Any

import numpy as np

from earshot.systems.voice_conversion import Voice
from earshot.systems.voice_conversion.reading import Reading
from earshot.tabs.voice_conversion.own_voice import OwnVoice, VoiceVisit


class Listener:
    """In place of a pipeline: takes every recording for its reading, and gives one voice."""

    def __init__(self, vector: np.ndarray) -> None:
        self._voice = Voice("your voice", vector.astype(np.float32), 5.0, 0.2)

    def reference(self, audio: object, reading: Reading) -> np.ndarray:
        assert isinstance(reading, Reading)
        return np.zeros(16_000, np.float32)

    def voice(self, reference: np.ndarray) -> Voice:
        return self._voice


def visit_with_voice(vector: np.ndarray | None = None) -> VoiceVisit:
    """Return a visit whose visitor has read their text. vector: of their voice (D,)."""
    reading = Reading.draw(Random(0))
    listener: Any = Listener(np.linspace(-1, 1, 8) if vector is None else vector)
    return VoiceVisit(reading, OwnVoice(listener, "recording.wav", reading))
