"""A log-mel spectrogram that a gradient and a GPU can take.

Shapes: B batch, T samples, M mel bands.
"""

from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from earshot.media.constants import HOP_LENGTH, N_FFT

FLOOR: Final = 1e-5  # of the magnitude, as in earshot.media.audio.features


class LogMel(nn.Module):
    """A log-mel spectrogram of waveforms, as earshot.media.audio.features.log_mel makes it, on any
    device.
    """

    filters: Tensor
    window: Tensor

    def __init__(self, constants: Path) -> None:
        """Load the filters. constants: the file of ``prepare``."""
        super().__init__()
        with np.load(constants) as file:
            self.register_buffer("filters", torch.from_numpy(file["mel_filters"]).float())
        self.register_buffer("window", torch.hann_window(N_FFT))

    def forward(self, waveform: Tensor) -> Tensor:
        """Map waveforms (B, T) to (B, T / 160, M) in nepers: frame t is centred on sample 160 t."""
        spectrum = torch.stft(
            waveform,
            N_FFT,
            HOP_LENGTH,
            window=self.window,
            pad_mode="constant",
            return_complex=True,
        )
        with torch.autocast(waveform.device.type, enabled=False):
            mel = (self.filters @ spectrum.abs()).clamp(min=FLOOR).log()
        return mel.transpose(1, 2)[:, : waveform.shape[1] // HOP_LENGTH]
