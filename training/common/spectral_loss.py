"""The distance of two waveforms by their spectra.

The L1 distance of log magnitudes and the spectral convergence at several resolutions (Yamamoto et
al. 2020), and the log-mel distance. Shapes: B batch, T samples, M mel bands, S frames.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

RESOLUTIONS: Final = ((1024, 256), (512, 128), (256, 64))  # FFT size and hop, samples
MEL_WEIGHT: Final = 4.0
FLOOR: Final = 1e-5


class SpectralLoss(nn.Module):
    """Multi-resolution STFT and log-mel distance between waveforms (B, T)."""

    filters: Tensor

    def __init__(self, filters: Tensor) -> None:
        """Keep the filters (M, bins) of the log-mel spectrogram."""
        super().__init__()
        self.register_buffer("filters", filters)

    def forward(self, predicted: Tensor, reference: Tensor) -> Tensor:
        """Add up the weighted distances: a scalar."""
        loss = MEL_WEIGHT * F.l1_loss(self.log_mel(predicted), self.log_mel(reference))
        for n_fft, hop in RESOLUTIONS:
            a, b = _magnitude(predicted, n_fft, hop), _magnitude(reference, n_fft, hop)
            convergence = (b - a).norm(dim=(1, 2)) / b.norm(dim=(1, 2)).clamp(min=1e-3)
            loss = loss + convergence.mean() + F.l1_loss(_log(a), _log(b))
        return loss

    def log_mel(self, waveform: Tensor) -> Tensor:
        """Compute log-mel magnitudes: (B, T) → (B, M, S + 1)."""
        n_fft = 2 * (self.filters.shape[1] - 1)
        return _log(self.filters @ _magnitude(waveform, n_fft, n_fft // 4))


def _magnitude(waveform: Tensor, n_fft: int, hop: int) -> Tensor:
    window = torch.hann_window(n_fft, device=waveform.device)
    spectrum = torch.stft(waveform, n_fft, hop, window=window, return_complex=True)
    return (spectrum.real.square() + spectrum.imag.square() + 1e-12).sqrt()


def _log(magnitude: Tensor) -> Tensor:
    return magnitude.clamp(min=FLOOR).log()
