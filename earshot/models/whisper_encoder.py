"""The encoder of Whisper, which others trained on speech in many languages, and its states.

Radford et al. 2022 (arXiv:2212.04356), section 2.2 and appendix B: a log-mel spectrogram, two
convolutions, Transformer layers with sinusoidal positions; a state every 20 ms. It was trained on
30 s at once, most of them silence after short speech. Here it hears the speech alone, which takes
a fraction of the time; networks on its states are trained with states that were heard so.

Shapes: B batch, T samples at 16 kHz, S = T / 320 states, D width, L layers taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import librosa
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.constants import SAMPLE_RATE
from earshot.models.recogniser import between

N_FFT: Final = 400  # samples of a window
HOP: Final = 160  # samples from one to the next
STATE: Final = 2 * HOP  # samples of a state, whose centre is at its start
RANGE: Final = 8.0  # of the decimal logarithm, below the loudest band


@dataclass(frozen=True)
class WhisperConfig:
    """Sizes of the encoder; those of Whisper base. positions: states that it can hear at once."""

    width: int = 512
    layers: int = 6
    heads: int = 8
    bands: int = 80
    positions: int = 1500


class WhisperEncoder(nn.Module):
    """The encoder of Whisper: a waveform → the states of every layer."""

    filters: Tensor

    def __init__(self, config: WhisperConfig = WhisperConfig()) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.conv1 = nn.Conv1d(config.bands, width, 3, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.positions = nn.Parameter(torch.zeros(config.positions, width))
        self.layers = nn.ModuleList(WhisperLayer(width, config.heads) for _ in range(config.layers))
        self.layer_norm = nn.LayerNorm(width)
        filters = librosa.filters.mel(sr=SAMPLE_RATE, n_fft=N_FFT, n_mels=config.bands)
        self.register_buffer("filters", torch.from_numpy(filters), persistent=False)

    def log_mel(self, waveform: Tensor) -> Tensor:
        """Map waveforms (B, T) to log-mel frames (B, bands, T / 160), as Whisper scales them."""
        window = torch.hann_window(N_FFT, device=waveform.device)
        spectrum = torch.stft(waveform, N_FFT, HOP, window=window, return_complex=True)
        power = self.filters @ spectrum[..., :-1].abs().square()
        logarithm = power.clamp(min=1e-10).log10()
        loudest = logarithm.amax(dim=(1, 2), keepdim=True)
        return (torch.maximum(logarithm, loudest - RANGE) + 4) / 4

    def forward(self, waveform: Tensor) -> list[Tensor]:
        """Map waveforms (B, T) of 30 s at most to the outputs of the layers, each (B, S, D), the
        last one after the final norm."""
        x = F.gelu(self.conv1(self.log_mel(waveform)))
        x = F.gelu(self.conv2(x)).transpose(1, 2)
        x = x + self.positions[: x.shape[1]]
        states = []
        for layer in self.layers:
            x = layer(x)
            states.append(x)
        return [*states[:-1], self.layer_norm(x)]


class WhisperLayer(nn.Module):
    """Layer norm → self-attention, layer norm → two projections with GELU, both residual."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm, self.forward_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention_in, self.attention_out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.forward_in = nn.Linear(width, 4 * width)
        self.forward_out = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Transform x (B, S, D) → (B, S, D)."""
        query, key, value = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in self.attention_in(self.attention_norm(x)).chunk(3, dim=-1)
        )
        attended = F.scaled_dot_product_attention(query, key, value)
        x = x + self.attention_out(attended.transpose(1, 2).flatten(2))
        return x + self.forward_out(F.gelu(self.forward_in(self.forward_norm(x))))


class WhisperStates(nn.Module):
    """Frozen layers of the encoder, side by side, at the times that are asked for."""

    def __init__(self, encoder: WhisperEncoder, layers: Sequence[int]) -> None:
        """Take the outputs of some layers, numbered from 1."""
        super().__init__()
        self.encoder = encoder.eval().requires_grad_(False)
        self.layers = tuple(layers)
        self.width = len(self.layers) * encoder.config.width

    @torch.no_grad()
    def forward(self, waveform: Tensor, places: Tensor) -> Tensor:
        """Compute the states of waveforms (B, T), interpolated at places (N,) in samples:
        (B, N, L * D)."""
        heard = self.encoder(waveform)
        states = torch.cat([heard[layer - 1] for layer in self.layers], dim=-1)
        return between(states, places / STATE)
