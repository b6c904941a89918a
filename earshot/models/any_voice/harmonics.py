"""The place of a pitch's harmonics in the mel bands, so that a network need not learn it.

Shapes: B batch, S frames, M mel bands, P pitches in the table, F bins.
"""

import math

import torch
from torch import Tensor, nn

from earshot.media.audio.mel import filterbank

MIN_PITCH, MAX_PITCH = 55.0, 550.0  # Hz
PITCHES = 400  # a tenth of a semitone apart
FLOOR = 0.05  # of a flat spectrum


class Harmonics(nn.Module):
    """A table of log-mel patterns of steady pulses, against those of a flat spectrum."""

    table: Tensor

    def __init__(self, n_mels: int = 80, n_fft: int = 640, sample_rate: int = 16_000) -> None:
        super().__init__()
        self.register_buffer("table", _patterns(n_mels, n_fft, sample_rate), persistent=False)

    def forward(self, pitch: Tensor) -> Tensor:
        """Map pitch in Hz (B, S), 0 where unvoiced, to patterns (B, S, M), 0 where unvoiced."""
        voiced = (pitch > 0)[..., None]
        octave = (pitch.clamp(MIN_PITCH, MAX_PITCH) / MIN_PITCH).log() / math.log(
            MAX_PITCH / MIN_PITCH
        )
        place = octave * (PITCHES - 1)
        left = place.floor().long().clamp(max=PITCHES - 2)
        weight = (place - left)[..., None]
        pattern = self.table[left] * (1 - weight) + self.table[left + 1] * weight
        return pattern * voiced


def _patterns(n_mels: int, n_fft: int, sample_rate: int) -> Tensor:
    """Compute the log-mel magnitude of pulses through a Hann window, per pitch: (P, M)."""
    hz = torch.linspace(0, sample_rate / 2, n_fft // 2 + 1)
    pitch = MIN_PITCH * (MAX_PITCH / MIN_PITCH) ** (torch.arange(PITCHES) / (PITCHES - 1))
    # Distance to the nearest harmonic, in bins; the window's main lobe is 2 bins to each side.
    number = (hz / pitch[:, None]).round().clamp(min=1)
    away = (hz - number * pitch[:, None]).abs() * n_fft / sample_rate
    lobe = torch.where(away < 2, torch.cos(math.pi * away / 4).square(), 0.0)  # (P, F)
    filters = torch.from_numpy(filterbank(sample_rate, n_fft, n_mels))
    share = (lobe @ filters.T) / filters.sum(dim=1)
    return (share + FLOOR).log()
