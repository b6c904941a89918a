"""Voice conversion of a stream, a hop at a time, by the networks that convert recordings.

Each hop passes a window through the encoder and the inverter: what was heard, the frames to speak,
and some frames that they are spoken in the light of. Only the vocoder carries on from hop to hop.
Networks that are causal can take the place of the windows; ``push`` stays.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch

from earshot.media.constants import FRAME_SECONDS, HOP_LENGTH, SAMPLE_RATE
from earshot.systems.voice_conversion.intonation import Intonation
from earshot.systems.voice_conversion.live.choice import Choice
from earshot.systems.voice_conversion.live.networks import LiveNetworks
from earshot.systems.voice_conversion.live.running import (
    RunningIntonation,
    RunningLevel,
)
from earshot.systems.voice_conversion.live.vocoder import BEHIND, StreamingVocoder
from earshot.systems.voice_conversion.settings import MUTED
from earshot.systems.voice_conversion.waveforms import GATE, LEVEL

INVERTED: Final = 60  # frames that the inverter sees, the last of the window
TRACKED: Final = 40  # frames in which the pitch is tracked, the last of the window
FADE: Final = round(0.005 * SAMPLE_RATE)  # samples, at the edges of silence


@dataclass(frozen=True)
class Timing:
    """The timing of a stream. hop: frames that are spoken at once, whole points of the intonation;
    ahead: frames after them that the networks see. delay: seconds between a sound and its
    conversion; latency: the same, with the wait until a hop is full.
    """

    hop: int = 8
    ahead: int = 2

    @property
    def delay(self) -> float:
        return (self.ahead + BEHIND) * FRAME_SECONDS

    @property
    def latency(self) -> float:
        return self.delay + self.hop * FRAME_SECONDS


TIMING: Final = Timing()


class LiveConversion:
    """The state of one stream; the networks are shared. Knows no clock, and does no I/O.

    choice: how to speak, which may change at any time; units: those spoken in the last push,
    MUTED for silence.
    """

    def __init__(
        self, networks: LiveNetworks, choice: Choice | None = None, timing: Timing = TIMING
    ) -> None:
        """Begin a stream; the choice must be one that the networks have."""
        self.choice = choice or Choice()
        self.timing = timing
        self.units: list[int] = []
        self._networks = networks
        self._hop_samples = timing.hop * HOP_LENGTH
        self._vocoder = StreamingVocoder(networks.vocoder)
        self._level = RunningLevel(LEVEL)
        self._hear = networks.hearing()
        self._waiting = np.zeros(0, np.float32)
        self._window = np.zeros(networks.window * HOP_LENGTH, np.float32)
        self._frames = 0  # of the window that were heard, and are not the silence before
        past = (INVERTED - timing.ahead) // networks.stride
        self._content = networks.silence.expand(past, -1)  # up to the last unit to speak
        self._intonation = RunningIntonation(past) if networks.keeps_intonation else None
        self._gains = np.zeros(BEHIND * HOP_LENGTH + FADE)

    @torch.inference_mode()
    def push(self, samples: np.ndarray) -> np.ndarray:
        """Convert the next samples heard (T,), at SAMPLE_RATE and of any number → those to be
        played.

        As many come back as have gone in, in whole hops; each says what went in ``timing.delay``
        before.
        """
        self.units = []
        self._waiting = np.append(self._waiting, samples.astype(np.float32, copy=False))
        spoken = [np.zeros(0, np.float32)]
        while len(self._waiting) >= self._hop_samples:
            spoken.append(self._step(self._waiting[: self._hop_samples]))
            self._waiting = self._waiting[self._hop_samples :]
        return np.concatenate(spoken)

    def _step(self, samples: np.ndarray) -> np.ndarray:
        """Convert the samples of a hop heard → as many spoken."""
        networks, timing = self._networks, self.timing
        self._window = np.append(self._window[self._hop_samples :], self._level(samples))
        self._frames = min(self._frames + timing.hop, networks.window)
        content = self._encode()
        new = timing.hop // networks.stride
        self._content = torch.cat([self._content[new:], content[:new]])
        muted = self._muted()
        units = networks.units(content[:new], self.choice)
        self.units += np.where(muted, MUTED, units).tolist()
        known = torch.cat([self._content, content[new:]])
        intonation = self._intonation_of(new, len(content) - new)
        log_mel, pitch = networks.invert(known, intonation, self.choice)
        start = INVERTED - timing.ahead - timing.hop
        spoken = self._vocoder.speak(log_mel, pitch, start, timing.hop)
        return spoken.numpy() * self._gate(muted)

    def _encode(self) -> torch.Tensor:
        """Encode the content of the frames to speak and of those ahead: (U, C)."""
        timing, networks = self.timing, self._networks
        leaving = max(self._frames + timing.hop - networks.window, 0)
        content = self._hear(self._window, self._frames, leaving)
        wanted = (timing.hop + timing.ahead) // networks.stride
        silence = networks.silence.expand(wanted, -1)
        return torch.cat([silence, content])[-wanted:]

    def _intonation_of(self, new: int, ahead: int) -> Intonation | None:
        """Track the intonation of all units that the inverter sees; None where it is to be
        predicted.
        """
        if self._intonation is None:
            return None
        known = self._intonation(self._window[-TRACKED * HOP_LENGTH :], new, ahead)
        return known if self.choice.intonation == "keep" else None

    def _muted(self) -> np.ndarray:
        """Say whether each unit to speak and its neighbours are under the gate: (hop / stride,)."""
        stride, timing = self._networks.stride, self.timing
        power = np.square(self._window.reshape(-1, stride * HOP_LENGTH)).mean(axis=1)
        first = (self._networks.window - timing.ahead - timing.hop) // stride
        around = [power[first + k :][: timing.hop // stride] for k in (-1, 0, 1)]
        return np.max(around, axis=0) < 10 ** (GATE / 10)

    def _gate(self, muted: np.ndarray) -> np.ndarray:
        """Compute the gain of the samples to be played, BEHIND frames late, fading at the edges of
        silence.
        """
        wanted = np.repeat(1 - muted, self._networks.stride * HOP_LENGTH)
        steps = np.append(self._gains, wanted)
        self._gains = steps[self._hop_samples :]
        smooth = np.convolve(steps, np.full(FADE, 1 / FADE), mode="valid")
        return smooth[: self._hop_samples].astype(np.float32)
