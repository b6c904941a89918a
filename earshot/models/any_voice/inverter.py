"""Inverter: content, a log-F0 contour and a voice → log-mel spectrogram.

Shapes: B batch, U steps of 20 ms, S = 2 U frames of 10 ms, M mel bands, V width of a voice vector.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.any_voice.harmonics import Harmonics
from earshot.models.any_voice.layers import (
    ConditionedConvolution,
    ConditionedNorm,
    ConditionedTransformerLayer,
)

CONTOUR_SCALE = 4.0  # a relative log-F0 has a standard deviation of about a quarter
PITCH_CENTRE, PITCH_SCALE = 5.0, 2.0  # log Hz: about 150 Hz
CONTOUR_INPUTS = 3  # voicing, relative log-F0, log-F0


@dataclass(frozen=True)
class InverterConfig:
    """Sizes of the network."""

    n_bottlenecks: int = 7
    n_mels: int = 80
    content_width: int = 32
    voice_width: int = 128
    condition_width: int = 128
    width: int = 192
    heads: int = 4
    inner: int = 768
    layers: int = 3
    fine_width: int = 128
    fine_inner: int = 384
    fine_layers: int = 3


@dataclass(frozen=True)
class Voices:
    """The voices to speak in: vector (B, V), and the mean and standard deviation of log-F0 (B,)."""

    vector: Tensor
    pitch_mean: Tensor
    pitch_std: Tensor

    def __getitem__(self, rows: Tensor | slice) -> "Voices":
        return Voices(self.vector[rows], self.pitch_mean[rows], self.pitch_std[rows])


class Inverter(nn.Module):
    """Transformer layers at 50 Hz, then convolutions at 100 Hz that see the harmonics."""

    output_mean: Tensor
    output_std: Tensor

    def __init__(self, config: InverterConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("output_mean", torch.zeros(config.n_mels))
        self.register_buffer("output_std", torch.ones(config.n_mels))
        condition = config.condition_width
        self.bottlenecks = nn.Embedding(config.n_bottlenecks, config.voice_width)
        self.condition = nn.Sequential(
            nn.Linear(config.voice_width + 2, condition), nn.GELU(), nn.Linear(condition, condition)
        )
        given = config.content_width + 2 * CONTOUR_INPUTS
        self.input = nn.Conv1d(given, config.width, 5, padding=2)
        layer = (config.width, config.heads, config.inner, condition)
        self.layers = nn.ModuleList(
            ConditionedTransformerLayer(*layer) for _ in range(config.layers)
        )
        self.norm = ConditionedNorm(config.width, condition)
        self.upsampling = nn.Linear(config.width, 2 * config.fine_width)
        self.harmonics = Harmonics(config.n_mels)
        self.contour = nn.Linear(config.n_mels + CONTOUR_INPUTS, config.fine_width)
        self.fine = nn.ModuleList(
            ConditionedConvolution(config.fine_width, config.fine_inner, condition)
            for _ in range(config.fine_layers)
        )
        self.fine_norm = ConditionedNorm(config.fine_width, condition)
        self.output = nn.Linear(config.fine_width, config.n_mels)

    def forward(self, content: Tensor, contour: Tensor, voices: Voices, chosen: Tensor) -> Tensor:
        """Predict the normalised log-mel spectrogram (B, S, M); denormalize gives nepers.

        content: (B, U, content_width); contour: (B, S, 2), voicing (0 or 1) and log-F0 relative
        to the voice's mean, 0 where unvoiced; chosen: (B,) indices of the bottlenecks.
        """
        condition = self._condition(voices, chosen)
        given = _contour_inputs(contour, voices)
        steps = given.reshape(len(given), content.shape[1], -1)
        x = torch.cat([content, steps], dim=-1)
        x = F.gelu(self.input(x.transpose(1, 2))).transpose(1, 2)
        for layer in self.layers:
            x = layer(x, condition)
        x = self.upsampling(self.norm(x, condition)).reshape(len(x), contour.shape[1], -1)
        pitch = contour[..., 0] * (contour[..., 1] + voices.pitch_mean[:, None]).exp()
        x = x + self.contour(torch.cat([self.harmonics(pitch), given], dim=-1))
        for block in self.fine:
            x = block(x, condition)
        return self.output(self.fine_norm(x, condition))

    def normalize(self, mel: Tensor) -> Tensor:
        """Normalise a log-mel spectrogram in nepers (B, S, M) to mean 0 and variance 1 in each
        band.
        """
        return (mel - self.output_mean) / self.output_std

    def denormalize(self, mel: Tensor) -> Tensor:
        """Turn normalised frames (B, S, M) back into a log-mel spectrogram in nepers."""
        return mel * self.output_std + self.output_mean

    def _condition(self, voices: Voices, chosen: Tensor) -> Tensor:
        """Compute the condition of the norms: (B, condition_width)."""
        pitch = (voices.pitch_mean - PITCH_CENTRE) * PITCH_SCALE
        numbers = torch.stack([pitch, CONTOUR_SCALE * voices.pitch_std], dim=-1)
        given = voices.vector + self.bottlenecks(chosen)
        return self.condition(torch.cat([given, numbers], dim=-1))


class ContourPredictor(nn.Module):
    """A predictor of voicing and relative log-F0 of every frame from content and voice, where there
    is no source to take them from.
    """

    WIDTH, HEADS, INNER = 128, 4, 256

    def __init__(self, config: InverterConfig) -> None:
        super().__init__()
        self.input = nn.Conv1d(config.content_width, self.WIDTH, 5, padding=2)
        self.layers = nn.ModuleList(
            ConditionedTransformerLayer(self.WIDTH, self.HEADS, self.INNER, config.voice_width)
            for _ in range(2)
        )
        self.output = nn.Linear(self.WIDTH, 4)

    def forward(self, content: Tensor, voices: Voices) -> Tensor:
        """Map content (B, U, content_width) to (B, S, 2): logit of voicing, relative log-F0."""
        x = F.gelu(self.input(content.transpose(1, 2))).transpose(1, 2)
        for layer in self.layers:
            x = layer(x, voices.vector)
        return self.output(x).reshape(len(x), 2 * x.shape[1], 2)


def _contour_inputs(contour: Tensor, voices: Voices) -> Tensor:
    """Scale a contour (B, S, 2) to inputs (B, S, CONTOUR_INPUTS), of about unit variance."""
    voicing, relative = contour[..., 0], contour[..., 1]
    absolute = (relative + voices.pitch_mean[:, None] - PITCH_CENTRE) * PITCH_SCALE
    return torch.stack([voicing, CONTOUR_SCALE * relative, voicing * absolute], dim=-1)
