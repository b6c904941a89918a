"""A system of voice conversion: the pitch of the speech is moved."""

from typing import Any

import librosa
import numpy as np

from earshot.systems.registry import system

SEMITONES = {"lower": -4, "higher": 4}


# The task, a name for programs and folders, and what menus call it; the rest is what its card says.
@system("voice_conversion", "NAME", "LABEL", paper="", licence="", trained_on="")
class NewSystem:
    # The names of its voices; () where it takes only those that voice_from makes.
    voices = tuple(SEMITONES)

    def __init__(self, device: str) -> None:
        """Load the model here. It is made when it is first chosen, and shared by all visitors."""

    def __call__(
        self, waveform: np.ndarray, sample_rate: int, target: Any
    ) -> tuple[np.ndarray, int]:
        """Speak a waveform (T,), float32 in [-1, 1], in a voice: any length, any rate."""
        steps = SEMITONES[target]
        return librosa.effects.pitch_shift(waveform, sr=sample_rate, n_steps=steps), sample_rate

    # It may also have these; what it has not is not offered.
    #
    # def voice_from(self, waveform, sample_rate):       a target of 10 to 30 s of anybody's speech
    #     return self.model.embed_speaker(waveform)
    #
    # stream_rate = 16_000
    # def stream(self, chunk, state, target):            live: the next samples, and what it
    #     return self.model.next(chunk, state)           returned as the state before, None at first
    #
    # unit_seconds = 0.02
    # def encode(self, waveform, sample_rate):           units, numbers from 0, to look at
    #     return self.model.units(waveform)
    #
    # def decode(self, units, target):                   the same units after they were edited
    #     return self.model.speak(units, target), self.rate
