"""The front ends of the networks of words: log-mel frames with pitch, or states of a recogniser.

Shapes: T samples at 16 kHz, S frames, M numbers of a frame.
"""

from abc import ABC, abstractmethod
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from earshot.core import cancellation
from earshot.media.audio.features import log_mel
from earshot.media.audio.load import match_loudness
from earshot.media.audio.pitch import MIN_PITCH, log_mel_and_pitch, track_pitch
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.models.recogniser import STATE, RecogniserStates
from earshot.pretrained.recogniser import load_states

if TYPE_CHECKING:
    from earshot.pretrained.speech_encoder import SpeechEncoder

LEVEL: Final = -23.0  # LUFS to which every recording is normalised
SILENCE: Final = 10  # states before and after a recording, as in training
WINDOW: Final = 400  # states of a long recording that are computed at once
CONTEXT: Final = 40  # states before and after them
OCTAVES: Final = 7.0  # pitch is in octaves above 128 Hz, 2 ** 7


def at_level(waveform: np.ndarray) -> np.ndarray:
    """Normalise the loudness of speech (T,), once for all front ends."""
    return match_loudness(waveform, SAMPLE_RATE, LEVEL)


class FrontEnd(ABC):
    """A map from speech to the frames of a network. views: indices of
    earshot.media.audio.vtlp.FACTORS over whose vectors a word's is averaged; none where frames have
    no mel bands. margin: frames at each end by which there are more than the speech is long.
    """

    views: tuple[int, ...] = ()
    margin: int = 0

    @abstractmethod
    def __call__(self, waveform: np.ndarray) -> np.ndarray:
        """Map speech (T,) at LEVEL → frames (S, M)."""


class LogMel(FrontEnd):
    """Log-mel frames every 10 ms, and after them the pitch: (S, N_MELS + 1)."""

    views = (3, 6, 9)

    def __init__(self, pitch: bool) -> None:
        """Keep whether the network looks at the pitch too."""
        self._pitch = pitch

    def __call__(self, waveform: np.ndarray) -> np.ndarray:
        if self._pitch:
            return log_mel_and_pitch(waveform)
        return np.pad(log_mel(waveform), ((0, 0), (0, 1)))


class Grid(FrontEnd):
    """States of a speech model every 20 ms."""

    def __init__(self, encoder: "SpeechEncoder") -> None:
        self._encoder = encoder

    def __call__(self, waveform: np.ndarray) -> np.ndarray:
        return self._encoder.on_grid(waveform)


class States(FrontEnd):
    """A recogniser's own states, of speech between silences, and then the pitch: octaves above
    128 Hz, and whether there is a voice. One state more than the speech has at each end."""

    margin = 1

    def __init__(self, recogniser: RecogniserStates) -> None:
        self._recogniser = recogniser

    def __call__(self, waveform: np.ndarray) -> np.ndarray:
        first = SILENCE - self.margin
        last = SILENCE + ceil(len(waveform) / STATE) + self.margin
        states = self._states(np.pad(waveform, SILENCE * STATE))[first:last]
        centres = (np.arange(len(states)) + 0.5 - self.margin) * STATE
        pitch = track_pitch(waveform)
        pitch = pitch[(centres // HOP_LENGTH).astype(int).clip(0, len(pitch) - 1)]
        octaves = np.where(pitch > 0, np.log2(np.maximum(pitch, MIN_PITCH)) - OCTAVES, 0.0)
        return np.column_stack([states, octaves, pitch > 0]).astype(np.float32)

    def _states(self, waveform: np.ndarray) -> np.ndarray:
        """Compute all states of a recording; of a long one in windows that overlap."""
        device, parts = next(self._recogniser.parameters()).device, []
        samples = torch.from_numpy(waveform).to(device)
        for first in range(0, len(waveform) // STATE, WINDOW):
            cancellation.check()
            before = min(first, CONTEXT)
            end = (first + WINDOW + CONTEXT) * STATE
            states = self._recogniser.own(samples[None, (first - before) * STATE : end])
            parts.append(states[0, before : before + WINDOW].cpu().numpy())
        return np.concatenate(parts)


def front_end_name(config: dict[str, Any]) -> str:
    """Name the front end of the network that a checkpoint's config describes."""
    pitch = config["network"].get("pitch", False)
    layers = config.get("recogniser_layers")
    return f"layers {layers}" if layers else config.get("front_end") or f"log-mel, pitch: {pitch}"


def load_front_end(config: dict[str, Any], device: str) -> FrontEnd:
    """Load the front end of the network that a checkpoint's config describes.

    Raises FileNotFoundError where the speech model that it names cannot be loaded.
    """
    if "recogniser_layers" in config:
        layers = tuple(config["recogniser_layers"])
        return States(load_states(layers, config.get("recogniser"), device))
    if "front_end" in config:
        from earshot.pretrained.speech_encoder import SpeechEncoder  # late: it loads transformers

        return Grid(SpeechEncoder.from_pretrained(config["front_end"], device))
    return LogMel(config["network"].get("pitch", False))
