"""Voice conversion of a stream, a hop at a time, by the networks that convert recordings.

Each hop passes what came before, the frames to speak, and some frames that they are spoken in the
light of, through the encoder and the inverter. The encoder remembers what it does not compute anew,
and the vocoder carries on from hop to hop. How much is computed is the timing's, which may change
at any time.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch

from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.pretrained.voice import Nobody, Voice
from earshot.provenance import mark
from earshot.systems.voice_conversion.converter import GATE, LEVEL
from earshot.systems.voice_conversion.live.networks import LiveNetworks, Timing
from earshot.systems.voice_conversion.live.process import Choice, check_rate
from earshot.systems.voice_conversion.live.streams import (
    CONTEXT,
    FRAMES_BEHIND,
    Resampler,
    RunningIntonation,
    RunningLevel,
    StreamingVocoder,
)
from earshot.systems.voice_conversion.settings import MUTED
from earshot.systems.voice_conversion.units import Intonation

MAX_PAST: Final = 120  # frames of content and of samples that are behind the last to speak
MIN_PITCH_FRAMES: Final = 40  # frames in which the pitch is tracked, at least
MARGIN: Final = 10  # of them, before those that are new
OWN_FRAMES: Final = 500  # after which the voice of the speaker is looked for: 5 s
MAX_BEHIND: Final = 0.3  # seconds, after which less is computed
EXPECTED_PUSHES: Final = 5  # of a period, by a timing that was not measured yet
PERIOD: Final = 0.5  # seconds of sound after which the time taken is looked at
MAX_SHARE: Final = 0.85  # of the time, that a hop may take
EASY_SHARE: Final = 0.75  # of the time, that a better timing would take
PATIENCE: Final = 4.0  # seconds of that until it is tried, at first and at most
MAX_PATIENCE: Final = 64.0
TRIAL: Final = 8.0  # seconds in which it must not be too much
FADE: Final = round(0.005 * SAMPLE_RATE)  # samples, at the edges of silence


class LiveConversion:
    """The state of one stream; the networks are shared. Knows no clock, and does no I/O.

    choice: how to speak, and timing, which both may change at any time; units: those spoken in the
    last push, MUTED for silence.
    """

    def __init__(
        self, networks: LiveNetworks, choice: Choice | None = None, timing: Timing | None = None
    ) -> None:
        """Begin a stream; the choice must be one that the networks have. timing: by default the
        best of theirs.
        """
        self.choice = choice or Choice()
        self.timing = timing or networks.timings[0]
        self.units: list[int] = []
        self._networks = networks
        self._vocoder = StreamingVocoder(networks.vocoder)
        self._level = RunningLevel(LEVEL)
        self._encoder = networks.stream_encoder()
        self._waiting = np.zeros(0, np.float32)
        self._window = np.zeros(MAX_PAST * HOP_LENGTH, np.float32)
        past = MAX_PAST // networks.stride
        self._content = networks.silence.expand(past, -1)  # up to the last unit to speak
        self._ahead = self.timing.ahead  # frames that came after that
        self._intonation = RunningIntonation(past) if networks.keeps_intonation else None
        self._gains = np.zeros(FRAMES_BEHIND * HOP_LENGTH + FADE)
        self._own: Voice | None = None  # voice of the speaker, once it is needed and known
        self._drawn: tuple[Choice, Choice] | None = None
        self._unknown = 0  # frames since the voice of the speaker was looked for
        self._mark, self._number = mark.begin(SAMPLE_RATE), mark.number_in_marks()

    @torch.inference_mode()
    def push(self, samples: np.ndarray) -> np.ndarray:
        """Convert the next samples (T,), at SAMPLE_RATE and of any number → those to be played.

        As many come back as have gone in, in whole hops; each is of what went in ``timing.delay``
        before. Where another timing sees further ahead, fewer come back once, and more where it
        sees less far.
        """
        self.units = []
        self._waiting = np.append(self._waiting, samples.astype(np.float32, copy=False))
        spoken = [np.zeros(0, np.float32)]
        while len(self._waiting) >= (size := self.timing.hop * HOP_LENGTH):
            spoken.append(self._step(self._waiting[:size]))
            self._waiting = self._waiting[size:]
        return np.concatenate(spoken)

    def _step(self, samples: np.ndarray) -> np.ndarray:
        """Convert the samples of a hop → those spoken."""
        networks, timing, stride = self._networks, self.timing, self._networks.stride
        levelled = self._level(samples)
        self._window = np.append(self._window, levelled)[-MAX_PAST * HOP_LENGTH :]
        frames = max(self._ahead + timing.hop - timing.ahead, 0)  # to speak
        self._ahead += timing.hop - frames
        new, ahead = frames // stride, self._ahead // stride
        content, choice = self._encode(levelled, new + ahead), self._drawn_choice()
        self._content = torch.cat([self._content[new:], content[:new]])
        intonation = self._intonation_of(new, ahead)
        if not new:
            return np.zeros(0, np.float32)
        muted = self._muted(new, ahead)
        units = networks.units(content[:new], choice)
        self.units += np.where(muted, MUTED, units).tolist()
        seen = timing.inverted // stride
        visible = torch.cat([self._content, content[new:]])[-seen:]
        intonation = intonation and intonation.at(slice(-seen, None))
        last = CONTEXT + frames + self._ahead
        log_mel, pitch = networks.invert(visible, intonation, choice, last)
        start = len(log_mel) - self._ahead - frames
        spoken = self._vocoder.speak(log_mel, pitch, start, frames)
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
        self._unknown += self.timing.hop
        if self._own is None and self._unknown >= OWN_FRAMES:
            self._unknown = 0
            self._own = self._networks.own_voice(self._level.recent)
            self._drawn = None if self._own else self._drawn
        if self._drawn is None or self._drawn[0] is not self.choice:
            self._drawn = self.choice, self._networks.drawn(self.choice, self._own)
        return self._drawn[1]

    def _encode(self, samples: np.ndarray, count: int) -> torch.Tensor:
        """Encode the content of the last units, of which the last samples are: (count, C)."""
        content = self._encoder(samples, self.timing)
        silence = self._networks.silence.expand(count, -1)
        return torch.cat([silence, content])[-count:]

    def _intonation_of(self, new: int, ahead: int) -> Intonation | None:
        """Track the intonation of all units that the inverter sees; None where it is to be
        predicted.
        """
        if self._intonation is None:
            return None
        frames = max(MIN_PITCH_FRAMES, (new + ahead) * self._networks.stride + MARGIN)
        intonation = self._intonation(self._window[-frames * HOP_LENGTH :], new, ahead)
        return intonation if self.choice.intonation == "keep" else None

    def _muted(self, new: int, ahead: int) -> np.ndarray:
        """Whether each unit to speak and its neighbours are under the gate: (new,)."""
        power = np.square(self._window.reshape(-1, self._networks.stride * HOP_LENGTH)).mean(axis=1)
        first = len(power) - ahead - new
        around = [power[first + k :][:new] for k in (-1, 0, 1)]
        return np.max(around, axis=0) < 10 ** (GATE / 10)

    def _gate(self, muted: np.ndarray) -> np.ndarray:
        """Compute the gain of the samples to be played, FRAMES_BEHIND frames late, fading at the
        edges of silence.
        """
        gains = np.repeat(1 - muted, self._networks.stride * HOP_LENGTH)
        steps = np.append(self._gains, gains)
        self._gains = steps[len(gains) :]
        smooth = np.convolve(steps, np.full(FADE, 1 / FADE), mode="valid")
        return smooth[: len(gains)].astype(np.float32)


class Pace:
    """A choice among timings: the best that a machine keeps up with. It gives way at once; it comes
    back after some seconds in which a better one would have done, and after twice as many where it
    had to give way again.

    level: the timing that is chosen, 0 the best.
    """

    def __init__(self, timings: Sequence[Timing], level: int = 0) -> None:
        self.level = level
        self._costs = [timing.cost for timing in timings]
        self._patience = PATIENCE  # seconds
        self._trial = 0.0  # seconds that a better one is still on trial
        self._behind = self._calm = 0.0  # seconds by which the speaker is ahead; without need
        # Seconds that each push took, and seconds of sound, of the period before this one, and of
        # this.
        self._before: tuple[list[float], float] = [], 0.0
        self._taken: list[float] = []
        self._seconds = 0.0

    def _change(self, level: int, share: float) -> None:
        """Choose another, whose share of the time is expected by what this one takes."""
        expected = share * self._costs[level] / self._costs[self.level]
        pushes = [PERIOD * expected / EXPECTED_PUSHES] * EXPECTED_PUSHES
        self.level, self._before = level, (pushes, PERIOD)
        self._behind = self._calm = self._seconds = 0.0
        self._taken = []

    def __call__(self, taken: float, seconds: float) -> None:
        """Choose, where so many seconds were taken by some seconds of sound."""
        self._behind = max(0.0, self._behind + taken - seconds)
        self._taken.append(taken)
        self._seconds += seconds
        self._trial -= seconds
        share = _usual(self._before[0] + self._taken) / (self._before[1] + self._seconds or 1e-9)
        if self._behind > MAX_BEHIND:
            self._give_way(share)
        elif self._seconds >= PERIOD:
            self._before = self._taken, self._seconds
            self._taken, self._seconds = [], 0.0
            if share > MAX_SHARE:
                self._give_way(share)
            elif self.level:
                self._come_back(share)

    def _give_way(self, share: float) -> None:
        """Choose the next that would take little enough, for this one takes a share of the time."""
        if self._trial > 0:
            self._patience = min(2 * self._patience, MAX_PATIENCE)
        most = MAX_SHARE * self._costs[self.level] / max(share, 1e-9)
        below = range(self.level + 1, len(self._costs))
        fitting = (level for level in below if self._costs[level] <= most)
        self._change(next(fitting, len(self._costs) - 1), share)

    def _come_back(self, share: float) -> None:
        better = share * self._costs[self.level - 1] / self._costs[self.level]
        self._calm = self._calm + PERIOD if better < EASY_SHARE else 0.0
        if self._calm >= self._patience:
            self._trial = TRIAL
            self._change(self.level - 1, share)


def _usual(pushes: list[float]) -> float:
    """Add up the seconds of pushes, of which one that was held up tells nothing of the load: the
    longest counts as the second longest, where there are several."""
    longest = sorted(pushes)[-2:]
    return sum(pushes) - (longest[1] - longest[0] if len(longest) > 1 else 0.0)


@dataclass(frozen=True, eq=False)
class Spoken:
    """The result of a push: samples (T,) at the rate of the device; the units spoken, by their
    colours, None for silence; behind: how many samples the last of them is behind the last that
    went in; economy: how far the next timing is below the best, 0 for the best.
    """

    samples: np.ndarray
    units: list[str | None]
    behind: int
    economy: int


class LiveSession:
    """A LiveConversion at the sampling rate of a device, between two resamplers."""

    def __init__(
        self,
        networks: LiveNetworks,
        rate: int,
        choice: Choice,
        level: int = 0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Begin a session. rate: in Hz; level: of the first timing, 0 the best; clock: in seconds,
        by which the others are chosen. Raises InputError for a rate that no device has, and as
        change does.
        """
        check_rate(rate)
        networks.check(choice)
        self.rate = rate
        self._networks = networks
        self._clock, self._pace = clock, Pace(networks.timings, level)
        self._conversion = LiveConversion(networks, choice)
        self._down, self._up = Resampler(rate, SAMPLE_RATE), Resampler(SAMPLE_RATE, rate)
        self._delay = self._down.delay + self._conversion.timing.delay + self._up.delay  # seconds
        self._received = self._played = 0  # samples

    @property
    def level(self) -> int:
        """How far the next timing is below the best, 0 for the best."""
        return self._pace.level

    def change(self, choice: Choice) -> None:
        """Go on with another choice. Raises InputError for a choice that the networks do not
        have.
        """
        if choice is not self._conversion.choice:
            self._networks.check(choice)
            self._conversion.choice = choice

    def push(self, samples: np.ndarray) -> Spoken:
        """Convert the next samples (T,) → those to be played."""
        began = self._clock()
        self._conversion.timing = self._networks.timings[self._pace.level]
        self._received += len(samples)
        spoken = self._up(self._conversion.push(self._down(samples)))
        self._played += len(spoken)
        palette = self._networks.colors(self._conversion.choice)
        colors = [None if unit == MUTED else palette[unit] for unit in self._conversion.units]
        behind = self._received - self._played + round(self._delay * self.rate)
        self._pace(self._clock() - began, len(samples) / self.rate)
        return Spoken(spoken, colors, behind, self._pace.level)
