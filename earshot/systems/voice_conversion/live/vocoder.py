"""The neural vocoder from hop to hop: pulse phase, noise and overlap are carried over.

Its phases are those of the excitation, so that hops join without a seam, and without a cross-fade.
"""

import math
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.models.vocoder import Vocoder, harmonic_sum, steady_pitch

AHEAD: Final = 2  # frames that must follow the spoken ones: F0 is interpolated between frames
BEHIND: Final = 2  # frames by which the sound is behind: half an analysis window
CONTEXT: Final = 9  # frames on either side that the convolutions are given; they could see 18
OVERLAP_POWER: Final = 1.5  # sum of the squares of four overlapping Hann windows


class StreamingVocoder:
    """A vocoder that makes one sound hop by hop."""

    def __init__(self, vocoder: Vocoder) -> None:
        self.vocoder = vocoder
        self._carried = vocoder.config.n_fft - vocoder.config.hop_length  # samples
        self._half_phase = 0.0
        self._generator = torch.Generator().manual_seed(0)
        self._excitation = torch.zeros(2, self._carried)  # pulses and noise
        self._overlap = torch.zeros(self._carried)

    def speak(self, log_mel: Tensor, pitch: Tensor, start: int, frames: int) -> Tensor:
        """Make the next ``frames`` frames of sound. They end BEHIND frames before ``start +
        frames``.

        log_mel: (S, n_mels); pitch: (S,) in Hz, 0 where unvoiced; both hold the frames to speak,
        those before that are known, and AHEAD or more after them. Returns (frames * hop_length,).
        """
        config, window = self.vocoder.config, self.vocoder.window
        pulses = self._pulses(pitch[start : start + frames + AHEAD])
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
