"""Codebook inverter: units and a voice → spectrogram (Tjandra et al. 2020, section 4).

The paper's inverter predicts a linear magnitude spectrogram. With ``pitch``, a log-F0 contour is
predicted first, from units and voice, and conditions the spectrogram: without it the network
averages over all contours, which blurs the harmonics.

Shapes: B batch, U units, S = U * stride frames of 10 ms.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers.positions import sinusoidal_positions
from earshot.models.layers.transformer import TransformerLayer

KERNELS = (1, 3, 5, 7)


@dataclass(frozen=True)
class CodebookInverterConfig:
    """Sizes of the network. pitch: predict a log-F0 contour first; False as in the paper."""

    stride: int = 4
    n_outputs: int = 80
    pitch: bool = True
    n_voices: int = 5
    code_width: int = 64
    width: int = 256
    layers: int = 3
    heads: int = 4
    inner: int = 512
    voice_width: int = 64
    dropout: float = 0.1
    pitch_means: tuple[float, ...] = ()  # mean log-F0 (log Hz) of each voice, with pitch


class CodebookInverter(nn.Module):
    """Two multi-scale convolutions and three Transformer layers (Fig. 4), voice-conditioned."""

    output_mean: Tensor
    output_std: Tensor

    def __init__(self, config: CodebookInverterConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("output_mean", torch.zeros(config.n_outputs))
        self.register_buffer("output_std", torch.ones(config.n_outputs))
        self.voices = nn.Embedding(config.n_voices, config.voice_width)
        n_inputs = config.code_width + config.voice_width
        self.contour = CodebookContourPredictor(n_inputs, config) if config.pitch else None
        self.spectrogram = Trunk(n_inputs + (2 if config.pitch else 0), config.n_outputs, config)

    def forward(
        self, codes: Tensor, voice: Tensor, contour: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Predict the spectrogram of the units in a voice, and the log-F0 contour.

        codes: (B, U, code_width), vectors of the codebook; voice: (B,), indices;
        contour: (B, S, 2), the reference: voicing (0 to 1) and log-F0 relative to the voice's
        mean. Without it the predicted contour conditions the spectrogram.
        Returns (B, S, n_outputs), and (B, S, 2): voicing logits and relative log-F0, or None
        where config.pitch is False.
        """
        repeated = codes.repeat_interleave(self.config.stride, dim=1)
        voices = self.voices(voice)[:, None].expand(-1, repeated.shape[1], -1)
        x = torch.cat([repeated, voices], dim=-1)
        if self.contour is None:
            return self._spectrogram(x), None
        predicted = self.contour(x)
        if contour is None:
            voiced = (predicted[..., :1].sigmoid() > 0.5).to(predicted.dtype)
            contour = torch.cat([voiced, voiced * predicted[..., 1:]], dim=-1)
        return self._spectrogram(torch.cat([x, contour], dim=-1)), predicted

    def _spectrogram(self, x: Tensor) -> Tensor:
        return self.spectrogram(x) * self.output_std + self.output_mean


class CodebookContourPredictor(nn.Module):
    """A predictor of voicing and log-F0 of every frame, from units and voice."""

    def __init__(self, n_inputs: int, config: CodebookInverterConfig) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            MultiScaleConvolution(n_inputs, 128), MultiScaleConvolution(128, 128)
        )
        self.layer = TransformerLayer(128, 4, 256, config.dropout, rotary=True)
        self.output = nn.Linear(128, 2)

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, S, n_inputs) to (B, S, 2): voicing logit, log-F0 relative to the voice's mean."""
        return self.output(self.layer(self.convolutions(x)))


class Trunk(nn.Module):
    """Two multi-scale convolutions, then Transformer layers with sinusoidal positions."""

    def __init__(self, n_inputs: int, n_outputs: int, config: CodebookInverterConfig) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            MultiScaleConvolution(n_inputs, config.width),
            MultiScaleConvolution(config.width, config.width),
        )
        layer = (config.width, config.heads, config.inner, config.dropout)
        self.layers = nn.Sequential(
            *(TransformerLayer(*layer, rotary=False) for _ in range(config.layers))
        )
        self.output = nn.Linear(config.width, n_outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, S, n_inputs) to (B, S, n_outputs)."""
        x = self.convolutions(x)
        x = x + sinusoidal_positions(x.shape[1], x.shape[2], x.device).to(x.dtype)
        return self.output(self.layers(x))


class MultiScaleConvolution(nn.Module):
    """Parallel convolutions with kernels of several widths, concatenated."""

    def __init__(self, n_inputs: int, n_outputs: int) -> None:
        super().__init__()
        share = n_outputs // len(KERNELS)
        self.scales = nn.ModuleList(
            nn.Conv1d(n_inputs, share, kernel, padding=kernel // 2) for kernel in KERNELS
        )
        self.norm = nn.LayerNorm(n_outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, S, n_inputs) to (B, S, n_outputs)."""
        x = x.transpose(1, 2)
        wide = torch.cat([scale(x) for scale in self.scales], dim=1)
        return F.relu(self.norm(wide.transpose(1, 2)))
