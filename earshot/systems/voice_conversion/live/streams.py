"""Parts of a live conversion that carry state from hop to hop: resampling, level, content, mean and
pitch of the stream so far, and the vocoder.
"""

import math
from typing import Final

import av
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.audio.load import loudness
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import FRAMES_PER_SECOND, HOP_LENGTH, SAMPLE_RATE
from earshot.models.layers import Memory
from earshot.models.recogniser import BEFORE, CENTRE, STATE, STEP, at_steps
from earshot.models.vocoder import Vocoder, harmonic_sum, steady_pitch
from earshot.models.vqvae import VQVAE
from earshot.pretrained.any_voice import Networks
from earshot.pretrained.voice import pitch_statistics
from earshot.systems.voice_conversion.units import FRAMES_PER_STEP, Intonation

HALF_FILTER: Final = 16  # samples of the lower rate: half of libswresample's filter

UTTERANCE_SECONDS: Final = 6.0  # seconds of the stream that stand for the utterance
MEMORY_FRAMES: Final = round(UTTERANCE_SECONDS * FRAMES_PER_SECOND)
MAX_STATES: Final = round(UTTERANCE_SECONDS * SAMPLE_RATE / STATE)  # that attention sees
MAX_STEPS: Final = round(UTTERANCE_SECONDS * SAMPLE_RATE / STEP)
REACH: Final = 895  # samples that a state is computed from, by the convolutions
MAX_PAST_SECONDS: Final = 2.0  # seconds of samples that are remembered for it
LEVEL_INTERVAL: Final = 0.5  # seconds between two measurements of the loudness
MIN_LUFS: Final = -50.0  # LUFS: what is quieter is no speech to measure
MAX_GAIN: Final = 10.0  # 20 dB either way

# Frames that must follow the spoken ones: F0 is interpolated between frames.
FRAMES_AHEAD: Final = 2
FRAMES_BEHIND: Final = 2  # frames by which the sound is behind: half an analysis window
CONTEXT: Final = 9  # frames on either side that the convolutions are given; they could see 18
OVERLAP_POWER: Final = 1.5  # sum of the squares of four overlapping Hann windows


class Resampler:
    """A resampler of one stream, by FFmpeg's libswresample.

    It is a millisecond behind at 16 kHz; soxr's streams, computed in blocks, are 20 to 60. Of what
    16 kHz can hold it takes 0.4 dB off at 7 kHz, and 3 dB at 7.5 kHz. Silence goes in before the
    stream, so that whatever was pushed has come back in full, and whole hops wait for nothing.

    delay: seconds by which the stream is behind.
    """

    def __init__(self, rate: int, to: int) -> None:
        """Make the resampler; both rates are in Hz."""
        self._rate = rate
        self._resampler = av.AudioResampler("flt", "mono", to) if rate != to else None
        before = math.ceil((HALF_FILTER + 1) * max(1, rate / to)) if rate != to else 0
        self.delay = before / rate
        self(np.zeros(before, np.float32))

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        """Resample the next samples in float32, (T,) → (T',)."""
        if not self._resampler or not len(samples):
            return samples
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples[None]), "flt", "mono")
        frame.sample_rate = self._rate
        resampled = [part.to_ndarray()[0] for part in self._resampler.resample(frame)]
        return np.concatenate([np.zeros(0, np.float32), *resampled])


class RunningLevel:
    """A gain that brings a stream to a loudness: that of its last UTTERANCE_SECONDS seconds,
    measured every LEVEL_INTERVAL.
    """

    def __init__(self, level: float) -> None:
        """Start at unit gain. level: in LUFS."""
        self._level = level
        self._gain = 1.0
        self._recent = np.zeros(0, np.float32)
        self._unmeasured = 0  # samples since the last measurement

    @property
    def recent(self) -> np.ndarray:
        """Return the last UTTERANCE_SECONDS seconds, at the level."""
        return self._recent * self._gain

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        """Level samples (T,) → (T,); the gain glides over them to where it should be."""
        self._recent = np.append(self._recent, samples)[-round(UTTERANCE_SECONDS * SAMPLE_RATE) :]
        self._unmeasured += len(samples)
        before = self._gain
        if self._unmeasured >= LEVEL_INTERVAL * SAMPLE_RATE:
            self._unmeasured = 0
            lufs = loudness(self._recent, SAMPLE_RATE)
            if lufs > MIN_LUFS:
                gain = 10 ** ((self._level - lufs) / 20)
                self._gain = float(np.clip(gain, 1 / MAX_GAIN, MAX_GAIN))
        gains = np.linspace(before, self._gain, len(samples), dtype=np.float32)
        return samples * gains


class StreamContent:
    """The content of one stream, by networks that others use as well.

    A window that is encoded anew every hop costs as much as it is long. Here what is computed anew
    is short: what came before it is seen by attention, as keys and values that stay.
    """

    def __init__(self, networks: Networks) -> None:
        self._recogniser, self._adapter = networks.recogniser, networks.adapter
        encoder = networks.recogniser.encoder
        self._norm = RunningNorm(encoder.groupnorm)
        self._of_states = [Memory() for _ in encoder.layers]
        self._of_steps = [Memory() for _ in networks.adapter.layers]
        self._samples = np.zeros(BEFORE, np.float32)  # the last
        self._count = 0  # of all samples
        self._state = self._step = 0  # where the last pass began

    def __call__(self, samples: np.ndarray, anew: int) -> Tensor:
        """Take in the next samples (T,), whole steps, and compute so many frames anew → the content
        of the last steps (U, C).
        """
        self._samples = np.append(self._samples, samples)[-round(MAX_PAST_SECONDS * SAMPLE_RATE) :]
        self._count += len(samples)
        steps = self._count // STEP
        states = ((steps - 1) * STEP + CENTRE) // STATE + 2  # between two of which the last step is
        first = max(0, states - anew * HOP_LENGTH // STATE)
        first_step = math.ceil(max(0, first * STATE - CENTRE) / STEP)
        _move(self._of_states, first - self._state, MAX_STATES)
        _move(self._of_steps, first_step - self._step, MAX_STEPS)
        self._norm.weight = len(samples) / SAMPLE_RATE / UTTERANCE_SECONDS
        window = self._window(first * STATE, (states - first - 1) * STATE + REACH)
        latest = self._recogniser.own(window[None], self._norm, self._of_states)
        after = first_step * STEP - first * STATE
        self._state, self._step = first, first_step
        return self._adapter(at_steps(latest, steps - first_step, after=after), self._of_steps)[0]

    def _window(self, start: int, length: int) -> Tensor:
        """Cut out samples; start counts the silence before the stream. Silence follows the last."""
        begin = start - (self._count + BEFORE - len(self._samples))
        assert begin >= 0, "these samples are forgotten"
        window = self._samples[begin : begin + length]
        return torch.from_numpy(np.pad(window, (0, length - len(window))))


class RunningNorm:
    """A group norm of one group by the statistics of a stream so far, what is older weighing less.
    weight: of what comes now."""

    def __init__(self, norm: nn.GroupNorm) -> None:
        self.weight = 1.0
        self._norm = norm
        self._moments = torch.zeros(2)  # mean, mean square
        self._passes = 0

    def __call__(self, x: Tensor) -> Tensor:
        """Normalise x (1, D, N) → the same shape."""
        self._passes += 1
        latest = torch.stack([x.mean(), x.square().mean()])
        self._moments = self._moments.lerp(latest, max(self.weight, 1 / self._passes))
        mean, square = self._moments
        scale = torch.rsqrt(square - mean.square() + self._norm.eps)
        return (x - mean) * scale * self._norm.weight[:, None] + self._norm.bias[:, None]


def _move(memories: list[Memory], steps: int, most: int) -> None:
    for memory in memories:
        memory.move(steps, most)


class RunningMean:
    """A normaliser of features as the encoder's network has it, the last UTTERANCE_SECONDS seconds
    being the utterance.
    """

    def __init__(self, network: VQVAE) -> None:
        self._network = network
        self._past = torch.zeros(0, network.config.n_features)

    def __call__(self, window: Tensor, leaving: int) -> Tensor:
        """Normalise features (S, n_features) → the same shape. The first ``leaving`` frames are not
        in the next window, and are remembered.
        """
        frames = torch.cat([self._past, window])
        self._past = torch.cat([self._past, window[:leaving]])[-MEMORY_FRAMES:]
        return self._network.normalize(frames[None])[0, -len(window) :]


class RunningIntonation:
    """The intonation relative to the mean and the standard deviation of the last UTTERANCE_SECONDS
    seconds. What was spoken once stays as it was.
    """

    def __init__(self, steps: int) -> None:
        """Begin with silence. steps: how many spoken ones are remembered."""
        self._past = np.zeros(0, np.float32)  # Hz of each frame
        self._spoken = Intonation(np.zeros(steps, bool), np.zeros(steps, np.float32))

    def __call__(self, window: np.ndarray, new: int, ahead: int) -> Intonation:
        """Track samples up to the present (T,), of which ``new`` steps are to be spoken, and
        ``ahead`` follow → the intonation of what was and is spoken, and of those ahead, from its
        bits.
        """
        pitch = track_pitch(window)
        statistics = pitch_statistics(np.append(self._past, pitch))
        leaving = new * FRAMES_PER_STEP
        self._past = np.append(self._past, pitch[:leaving])[-MEMORY_FRAMES:]
        latest = Intonation.of(pitch, statistics).at(slice(-new - ahead, None))
        intonation = self._spoken.at(slice(new, None)).then(latest)
        self._spoken = intonation.at(slice(len(intonation.voiced) - ahead))
        return intonation


class StreamingVocoder:
    """A neural vocoder that makes one sound hop by hop: pulse phase, noise and overlap are carried
    over.

    Its phases are those of the excitation, so that hops join without a seam, and without a
    cross-fade.
    """

    def __init__(self, vocoder: Vocoder) -> None:
        self.vocoder = vocoder
        self._carried = vocoder.config.n_fft - vocoder.config.hop_length  # samples
        self._half_phase = 0.0
        self._generator = torch.Generator().manual_seed(0)
        self._excitation = torch.zeros(2, self._carried)  # pulses and noise
        self._overlap = torch.zeros(self._carried)

    def speak(self, log_mel: Tensor, pitch: Tensor, start: int, frames: int) -> Tensor:
        """Make the next ``frames`` frames of sound. They end FRAMES_BEHIND frames before ``start +
        frames``.

        log_mel: (S, n_mels); pitch: (S,) in Hz, 0 where unvoiced; both hold the frames to speak,
        those before, and FRAMES_AHEAD or more after them. Returns (frames * hop_length,).
        """
        config, window = self.vocoder.config, self.vocoder.window
        pulses = self._pulses(pitch[start : start + frames + FRAMES_AHEAD])
        white = torch.randn(pulses.shape, generator=self._generator)
        excitation = torch.cat([self._excitation, torch.stack([pulses, white])], dim=1)
        self._excitation = excitation[:, -self._carried :]
        hop = config.hop_length
        spectra = torch.stft(
            excitation, config.n_fft, hop, window=window, center=False, return_complex=True
        )
        seen = slice(max(start - CONTEXT, 0), start + frames + CONTEXT)
        responses = self.vocoder.responses(log_mel[None, seen], pitch[None, seen])
        now = slice(start - seen.start, start - seen.start + frames)
        harmonic, noise = (response[0, :, now] for response in responses)
        spectrum = spectra[0] * harmonic + spectra[1] * noise
        return self._overlap_add(torch.fft.irfft(spectrum.T) * window / OVERLAP_POWER)

    def _pulses(self, pitch: Tensor) -> Tensor:
        """Make the pulses of all frames but the first and the last, whose F0 is interpolated to.

        (S,) → ((S - 2) * hop_length,).
        """
        config = self.vocoder.config
        inner = slice(config.hop_length, -config.hop_length)
        hz = steady_pitch(pitch[None], config.hop_length)[0, inner]
        half = (self._half_phase + torch.cumsum(math.pi * hz / config.sample_rate, 0)) % math.pi
        self._half_phase = float(half[-1])
        voiced = (pitch > 0).repeat_interleave(config.hop_length)[inner]
        return (harmonic_sum(half, hz, config.sample_rate) * voiced).to(pitch.dtype)

    def _overlap_add(self, windowed: Tensor) -> Tensor:
        """Add frames (S, n_fft) to what was carried; return what no later frame reaches."""
        hop = self.vocoder.config.hop_length
        total = F.pad(self._overlap, (0, len(windowed) * hop))
        for number, frame in enumerate(windowed):
            total[number * hop : number * hop + len(frame)] += frame
        self._overlap = total[-self._carried :]
        return total[: len(windowed) * hop]
