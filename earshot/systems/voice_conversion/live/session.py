"""Voice conversion of a stream, a hop at a time, by the networks that convert recordings.

Each hop passes a window through the encoder and the inverter: what came before, the frames to
speak, and some frames that they are spoken in the light of. Only the vocoder carries on from hop to
hop. Networks that are causal can take the place of the windows; ``push`` stays.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch

from earshot.media.constants import FRAME_SECONDS, HOP_LENGTH, SAMPLE_RATE
from earshot.pretrained.voice import Nobody, Voice
from earshot.provenance import mark
from earshot.systems.voice_conversion.converter import GATE, LEVEL
from earshot.systems.voice_conversion.live.networks import LiveNetworks
from earshot.systems.voice_conversion.live.process import Choice, check_rate
from earshot.systems.voice_conversion.live.streams import (
    BEHIND,
    Resampler,
    RunningIntonation,
    RunningLevel,
    StreamingVocoder,
)
from earshot.systems.voice_conversion.settings import MUTED
from earshot.systems.voice_conversion.units import Intonation

INVERTED: Final = 60  # frames that the inverter sees, the last of the window
TRACKED: Final = 40  # frames in which the pitch is tracked, the last of the window
OWN_HOPS: Final = 60  # after which the voice of the speaker is looked for: some 5 s
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
        self._encoder = networks.stream_encoder()
        self._waiting = np.zeros(0, np.float32)
        self._window = np.zeros(networks.window * HOP_LENGTH, np.float32)
        self._frames = 0  # of the window that are of the stream, and not the silence before
        past = (INVERTED - timing.ahead) // networks.stride
        self._content = networks.silence.expand(past, -1)  # up to the last unit to speak
        self._intonation = RunningIntonation(past) if networks.keeps_intonation else None
        self._gains = np.zeros(BEHIND * HOP_LENGTH + FADE)
        self._own: Voice | None = None  # voice of the speaker, once it is needed and known
        self._drawn: tuple[Choice, Choice] | None = None
        self._hops = 0  # in a voice of nobody
        self._mark, self._number = mark.begin(SAMPLE_RATE), mark.number_in_marks()

    @torch.inference_mode()
    def push(self, samples: np.ndarray) -> np.ndarray:
        """Convert the next samples (T,), at SAMPLE_RATE and of any number → those to be played.

        As many come back as have gone in, in whole hops; each is of what went in ``timing.delay``
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
        """Convert the samples of a hop → as many spoken."""
        networks, timing = self._networks, self.timing
        self._window = np.append(self._window[self._hop_samples :], self._level(samples))
        self._frames = min(self._frames + timing.hop, networks.window)
        content, choice = self._encode(), self._drawn_choice()
        new = timing.hop // networks.stride
        self._content = torch.cat([self._content[new:], content[:new]])
        muted = self._muted()
        units = networks.units(content[:new], choice)
        self.units += np.where(muted, MUTED, units).tolist()
        visible = torch.cat([self._content, content[new:]])
        intonation = self._intonation_of(new, len(content) - new)
        log_mel, pitch = networks.invert(visible, intonation, choice)
        start = INVERTED - timing.ahead - timing.hop
        spoken = self._vocoder.speak(log_mel, pitch, start, timing.hop)
        result = spoken.numpy() * self._gate(muted)
        if self._number is not None:
            result, self._mark = mark.mark_hop(self._mark, result, self._number)
        return result

    def _drawn_choice(self) -> Choice:
        """Draw the voice of a choice that is nobody's: at once, in full, and again once so much has
        been said that it can be far from the speaker's own, which is partly kept then.
        """
        if not isinstance(self.choice.voice, Nobody):
            return self.choice
        self._hops += 1
        if self._own is None and self._hops % OWN_HOPS == 0:
            self._own = self._networks.own_voice(self._level.recent)
            self._drawn = None if self._own else self._drawn
        if self._drawn is None or self._drawn[0] is not self.choice:
            self._drawn = self.choice, self._networks.drawn(self.choice, self._own)
        return self._drawn[1]

    def _encode(self) -> torch.Tensor:
        """Encode the content of the frames to speak and of those ahead: (U, C)."""
        timing, networks = self.timing, self._networks
        leaving = max(self._frames + timing.hop - networks.window, 0)
        content = self._encoder(self._window, self._frames, leaving)
        count = (timing.hop + timing.ahead) // networks.stride
        silence = networks.silence.expand(count, -1)
        return torch.cat([silence, content])[-count:]

    def _intonation_of(self, new: int, ahead: int) -> Intonation | None:
        """Track the intonation of all units that the inverter sees; None where it is to be
        predicted.
        """
        if self._intonation is None:
            return None
        intonation = self._intonation(self._window[-TRACKED * HOP_LENGTH :], new, ahead)
        return intonation if self.choice.intonation == "keep" else None

    def _muted(self) -> np.ndarray:
        """Whether each unit to speak and its neighbours are under the gate: (hop / stride,)."""
        stride, timing = self._networks.stride, self.timing
        power = np.square(self._window.reshape(-1, stride * HOP_LENGTH)).mean(axis=1)
        first = (self._networks.window - timing.ahead - timing.hop) // stride
        around = [power[first + k :][: timing.hop // stride] for k in (-1, 0, 1)]
        return np.max(around, axis=0) < 10 ** (GATE / 10)

    def _gate(self, muted: np.ndarray) -> np.ndarray:
        """Compute the gain of the samples to be played, BEHIND frames late, fading at the edges of
        silence.
        """
        gains = np.repeat(1 - muted, self._networks.stride * HOP_LENGTH)
        steps = np.append(self._gains, gains)
        self._gains = steps[self._hop_samples :]
        smooth = np.convolve(steps, np.full(FADE, 1 / FADE), mode="valid")
        return smooth[: self._hop_samples].astype(np.float32)


@dataclass(frozen=True, eq=False)
class Spoken:
    """The result of a push: samples (T,) at the rate of the device; the units spoken, by their
    colours, None for silence; behind: how many samples the last of them is behind the last that
    went in.
    """

    samples: np.ndarray
    units: list[str | None]
    behind: int


class LiveSession:
    """A LiveConversion at the sampling rate of a device, between two resamplers."""

    def __init__(self, networks: LiveNetworks, rate: int, choice: Choice) -> None:
        """Begin a session. rate: in Hz. Raises InputError for a rate that no device has, and as
        change does.
        """
        check_rate(rate)
        networks.check(choice)
        self.rate = rate
        self._networks = networks
        self._conversion = LiveConversion(networks, choice)
        self._down, self._up = Resampler(rate, SAMPLE_RATE), Resampler(SAMPLE_RATE, rate)
        self._delay = self._down.delay + self._conversion.timing.delay + self._up.delay  # seconds
        self._received = self._played = 0  # samples

    def change(self, choice: Choice) -> None:
        """Go on with another choice. Raises InputError for a choice that the networks do not
        have.
        """
        if choice is not self._conversion.choice:
            self._networks.check(choice)
            self._conversion.choice = choice

    def push(self, samples: np.ndarray) -> Spoken:
        """Convert the next samples (T,) → those to be played."""
        self._received += len(samples)
        spoken = self._up(self._conversion.push(self._down(samples)))
        self._played += len(spoken)
        palette = self._networks.colors(self._conversion.choice)
        colors = [None if unit == MUTED else palette[unit] for unit in self._conversion.units]
        behind = self._received - self._played + round(self._delay * self.rate)
        return Spoken(spoken, colors, behind)
