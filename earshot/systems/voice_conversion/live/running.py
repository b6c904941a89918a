"""Level, mean and pitch of a stream so far, in place of those of a whole utterance."""

from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.media.audio.load import loudness
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import FRAMES_PER_SECOND, SAMPLE_RATE
from earshot.models.vqvae import VQVAE
from earshot.pretrained.voice import pitch_statistics
from earshot.systems.voice_conversion.intonation import FRAMES_PER_STEP, Intonation

SECONDS: Final = 6.0  # that are remembered
FRAMES: Final = round(SECONDS * FRAMES_PER_SECOND)
EVERY: Final = 0.5  # seconds between two looks at the loudness
QUIET: Final = -50.0  # LUFS: what is quieter is no speech to measure
MAX_GAIN: Final = 10.0  # 20 dB either way


class RunningLevel:
    """A gain that brings a stream to a loudness: that of its last SECONDS, looked at again every
    EVERY.
    """

    def __init__(self, level: float) -> None:
        """Start at unit gain. level: in LUFS."""
        self._level = level
        self._gain = 1.0
        self._recent = np.zeros(0, np.float32)
        self._unseen = 0  # samples since the last look

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        """Level samples (T,) → (T,); the gain glides over them to where it should be."""
        self._recent = np.append(self._recent, samples)[-round(SECONDS * SAMPLE_RATE) :]
        self._unseen += len(samples)
        before = self._gain
        if self._unseen >= EVERY * SAMPLE_RATE:
            self._unseen = 0
            heard = loudness(self._recent, SAMPLE_RATE)
            if heard > QUIET:
                gain = 10 ** ((self._level - heard) / 20)
                self._gain = float(np.clip(gain, 1 / MAX_GAIN, MAX_GAIN))
        gains = np.linspace(before, self._gain, len(samples), dtype=np.float32)
        return samples * gains


class RunningMean:
    """A normaliser of features as the encoder's network has it, the last SECONDS being the
    utterance.
    """

    def __init__(self, network: VQVAE) -> None:
        self._network = network
        self._past = torch.zeros(0, network.config.n_features)

    def __call__(self, window: Tensor, leaving: int) -> Tensor:
        """Normalise features (S, n_features) → the same shape. The first ``leaving`` frames are not
        in the next window, and are remembered.
        """
        known = torch.cat([self._past, window])
        self._past = torch.cat([self._past, window[:leaving]])[-FRAMES:]
        return self._network.normalize(known[None])[0, -len(window) :]


class RunningIntonation:
    """The intonation relative to the mean and the standard deviation of the last SECONDS. What was
    spoken once stays as it was.
    """

    def __init__(self, spoken: int) -> None:
        """Begin with silence. spoken: steps that are kept."""
        self._past = np.zeros(0, np.float32)  # Hz of each frame
        self._spoken = Intonation(np.zeros(spoken, bool), np.zeros(spoken, np.float32))

    def __call__(self, window: np.ndarray, new: int, ahead: int) -> Intonation:
        """Track samples up to the present (T,), of which ``new`` steps are to be spoken, and
        ``ahead`` follow → the intonation of what was and is spoken, and of those ahead, from its
        bits.
        """
        pitch = track_pitch(window)
        statistics = pitch_statistics(np.append(self._past, pitch))
        leaving = new * FRAMES_PER_STEP
        self._past = np.append(self._past, pitch[:leaving])[-FRAMES:]
        latest = Intonation.of(pitch, statistics).at(slice(-new - ahead, None))
        known = self._spoken.at(slice(new, None)).then(latest)
        self._spoken = known.at(slice(len(known.voiced) - ahead))
        return known
