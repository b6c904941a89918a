"""Inverter: content, a log-F0 contour and a voice → log-mel spectrogram.

Its norms are set by the voice: feature-wise linear modulation (Perez et al. 2018). It is given the
place of a pitch's harmonics in the mel bands, which it then need not learn.

Shapes: B batch, U steps of 20 ms, S = 2 U frames of 10 ms, M mel bands, D width, C width of the
condition, P pitches in the table, F bins.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.media.audio.spectrum import filterbank
from earshot.models.any_voice.voices import Voices
from earshot.models.layers import attend

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
        inputs = config.content_width + 2 * CONTOUR_INPUTS
        self.input = nn.Conv1d(inputs, config.width, 5, padding=2)
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

    def forward(
        self,
        content: Tensor,
        contour: Tensor,
        voices: Voices,
        chosen: Tensor,
        last: int | None = None,
    ) -> Tensor:
        """Predict the normalised log-mel spectrogram (B, S, M); denormalize gives nepers.

        content: (B, U, content_width); contour: (B, S, 2), voicing (0 or 1) and log-F0 relative
        to the voice's mean, 0 where unvoiced; chosen: (B,) indices of the bottlenecks; last: how
        many frames are wanted, the last of all, where not all are.
        """
        condition = self._condition(voices, chosen)
        inputs = _contour_inputs(contour, voices)
        steps = inputs.reshape(len(inputs), content.shape[1], -1)
        x = torch.cat([content, steps], dim=-1)
        x = F.gelu(self.input(x.transpose(1, 2))).transpose(1, 2)
        for layer in self.layers:
            x = layer(x, condition)
        x = self.upsampling(self.norm(x, condition)).reshape(len(x), contour.shape[1], -1)
        if last is not None:
            x, contour, inputs = (part[:, -last:] for part in (x, contour, inputs))
        pitch = contour[..., 0] * (contour[..., 1] + voices.pitch_mean[:, None]).exp()
        x = x + self.contour(torch.cat([self.harmonics(pitch), inputs], dim=-1))
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
        vector = voices.vector + self.bottlenecks(chosen)
        return self.condition(torch.cat([vector, numbers], dim=-1))


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


class ConditionedNorm(nn.Module):
    """Layer norm whose scale and offset come from a condition; at first they are 1 and 0."""

    def __init__(self, width: int, condition_width: int) -> None:
        super().__init__()
        self.modulation = nn.Linear(condition_width, 2 * width)
        nn.init.zeros_(self.modulation.weight)
        nn.init.zeros_(self.modulation.bias)

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Normalise x (B, S, D) under a condition (B, C) → (B, S, D)."""
        scale, offset = self.modulation(condition)[:, None].chunk(2, dim=-1)
        return F.layer_norm(x, x.shape[-1:]) * (1 + scale) + offset


class ConditionedTransformerLayer(nn.Module):
    """Self-attention with rotary positions and two projections, each after a conditioned norm."""

    def __init__(self, width: int, heads: int, inner: int, condition_width: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = ConditionedNorm(width, condition_width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.inner_norm = ConditionedNorm(width, condition_width)
        self.inner = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Transform x (B, S, D) under a condition (B, C) → (B, S, D)."""
        projected = self.query_key_value(self.attention_norm(x, condition))
        x = x + self.attention_out(attend(projected, self.heads))
        return x + self.inner(self.inner_norm(x, condition))


class ConditionedConvolution(nn.Module):
    """ConvNeXt block (Liu et al. 2022) with a conditioned norm."""

    def __init__(self, width: int, inner: int, condition_width: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv1d(width, width, 7, padding=3, groups=width)
        self.norm = ConditionedNorm(width, condition_width)
        self.inner = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))
        self.scale = nn.Parameter(torch.full((width,), 0.3))

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Convolve x (B, S, D) under a condition (B, C) → (B, S, D)."""
        y = self.depthwise(x.transpose(1, 2)).transpose(1, 2)
        return x + self.scale * self.inner(self.norm(y, condition))
