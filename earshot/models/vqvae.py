"""Transformer VQ-VAE for unit discovery, or k-means in its place, and the codebook inverter that
speaks the units in a voice (Tjandra, Sakti & Nakamura, ZeroSpeech 2020, sections 3 and 4).

The paper's inverter predicts a linear magnitude spectrogram. With ``pitch``, a log-F0 contour is
predicted first, from units and voice, and conditions the spectrogram: without it the network
averages over all contours, which blurs the harmonics.

Shapes: B batch, S frames of 10 ms, U units (U = S / stride), K codebook size, D width of a frame.
"""

from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers import Codebook, TransformerLayer, sinusoidal_positions


@dataclass(frozen=True)
class VQVAEConfig:
    """Sizes of the network and weights of its losses."""

    codebook_size: int = 128
    strides: tuple[int, ...] = (2, 2)  # one encoder block each
    n_features: int = 39
    width: int = 128
    heads: int = 2
    inner: int = 512
    code_width: int = 64
    speaker_width: int = 64
    n_speakers: int = 1
    dropout: float = 0.0
    commitment: float = 0.25  # γ, Eq. (7)
    smoothing: float = 1e-3  # λ, Eq. (10)
    jitter: float = 0.05  # p, Eq. (11)
    # Weight of the InfoNCE loss between two augmented views; 0 is the paper's model.
    contrastive_weight: float = 0.0
    mean_prior: float = 100.0  # frames that the training mean counts for in normalize

    @property
    def stride(self) -> int:
        """Count the input frames per unit."""
        return prod(self.strides)


@dataclass(frozen=True)
class VQVAEOutput:
    """The results of one forward pass that training needs.

    z: (B, U, code_width), encoder outputs before quantisation; codes: (B, U);
    reconstruction: (B, S, n_features); the losses of Eq. (7) and Eq. (10), and their weighted sum.
    """

    z: Tensor
    reconstruction: Tensor
    codes: Tensor
    reconstruction_loss: Tensor
    commitment_loss: Tensor
    smoothing_loss: Tensor
    loss: Tensor


class VQVAE(nn.Module):
    """Encoder, codebook and speaker-conditioned decoder."""

    feature_mean: Tensor
    feature_std: Tensor

    def __init__(self, config: VQVAEConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("feature_mean", torch.zeros(config.n_features))
        self.register_buffer("feature_std", torch.ones(config.n_features))
        self.encoder = Encoder(config)
        self.codebook = Codebook(config.codebook_size, config.code_width)
        self.speakers = nn.Embedding(config.n_speakers, config.speaker_width)
        self.decoder = Decoder(config)

    def normalize(self, features: Tensor) -> Tensor:
        """Normalise features by the utterance's mean and the training set's standard deviation.

        The mean, which holds much of speaker and channel, is over the frames louder than average
        (speech, not pauses). It is shrunk towards the training mean as if ``mean_prior`` further
        frames had that value, for short recordings. (B, S, n_features) → (B, S, n_features).
        """
        level = features[..., 0]
        loud = (level >= level.mean(dim=1, keepdim=True)).to(features.dtype)[..., None]
        prior = self.config.mean_prior
        total = (features * loud).sum(dim=1, keepdim=True) + prior * self.feature_mean
        return (features - total / (loud.sum(dim=1, keepdim=True) + prior)) / self.feature_std

    def encode(self, normalized: Tensor) -> Tensor:
        """Find the codes of normalised features, S a multiple of the stride: (B, S, n_features) →
        (B, U).
        """
        return self.codebook.nearest(self.encoder(normalized))

    def forward(self, features: Tensor, target: Tensor, speaker: Tensor) -> VQVAEOutput:
        """Reconstruct ``target`` from ``features``: the same speech, or an augmented view of it.

        features, target: (B, S, n_features), not normalised; speaker: (B, S) indices.
        """
        target = (target - self.feature_mean) / self.feature_std
        z = self.encoder(self.normalize(features)).float()
        codes = self.codebook.nearest(z)
        if self.training:
            self.codebook.update(z.detach(), codes)
        quantized = self.codebook.vectors[codes]
        # Straight-through: the decoder sees the codebook, the gradient passes to the encoder.
        passed = z + (quantized - z).detach()
        if self.training:
            passed = _jitter(passed, self.config.jitter)
        reconstruction = self.decoder(passed, self.speakers(speaker))
        reconstruction_loss = F.mse_loss(reconstruction, target)
        commitment_loss = F.mse_loss(z, quantized)
        smoothing_loss = F.mse_loss(z[:, 1:], z[:, :-1])
        return VQVAEOutput(
            z,
            reconstruction,
            codes,
            reconstruction_loss,
            commitment_loss,
            smoothing_loss,
            reconstruction_loss
            + self.config.commitment * commitment_loss
            + self.config.smoothing * smoothing_loss,
        )


class Encoder(nn.Module):
    """Blocks of two Transformer layers and a strided convolution (Fig. 3a)."""

    def __init__(self, config: VQVAEConfig) -> None:
        super().__init__()
        self.input = nn.Conv1d(config.n_features, config.width, 3, padding=1)
        self.blocks = nn.ModuleList(_EncoderBlock(config, stride) for stride in config.strides)
        self.output = nn.Linear(config.width, config.code_width)
        self.unit_variance = config.contrastive_weight > 0

    def forward(self, features: Tensor) -> Tensor:
        """Encode features (B, S, n_features) as (B, U, code_width), layer-normalised with a
        contrastive loss.

        The contrastive loss compares directions only. Without the layer norm, the commitment loss
        would collapse the outputs onto the few directions in which spectra vary most.
        """
        x = self.input(features.transpose(1, 2)).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        z = self.output(x)
        return F.layer_norm(z, z.shape[-1:]) if self.unit_variance else z


class _EncoderBlock(nn.Module):
    def __init__(self, config: VQVAEConfig, stride: int) -> None:
        super().__init__()
        layer = (config.width, config.heads, config.inner, config.dropout, True)
        self.layers = nn.Sequential(TransformerLayer(*layer), TransformerLayer(*layer))
        kernel = stride + 2  # 4 where the rate is halved, 3 where it is kept
        self.convolution = nn.Conv1d(config.width, config.width, kernel, stride, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.convolution(self.layers(x).transpose(1, 2)).transpose(1, 2)


class Decoder(nn.Module):
    """Convolutions and up-sampling (Fig. 3b), given the speaker embedding."""

    def __init__(self, config: VQVAEConfig) -> None:
        super().__init__()
        self.strides = config.strides[::-1]
        widths = [config.code_width] + [config.width] * len(self.strides)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(width + config.speaker_width, config.width, 5, padding=2) for width in widths
        )
        self.output = nn.Conv1d(config.width, config.n_features, 5, padding=2)

    def forward(self, codes: Tensor, speaker: Tensor) -> Tensor:
        """Decode codes (B, U, code_width), with speaker (B, S, speaker_width), to (B, S,
        n_features).
        """
        x, speaker = codes.transpose(1, 2), speaker.transpose(1, 2)
        for convolution, stride in zip(self.convolutions, (*self.strides, 1), strict=True):
            here = speaker[..., :: speaker.shape[-1] // x.shape[-1]]
            x = F.gelu(convolution(torch.cat([x, here], dim=1)))
            x = F.interpolate(x, scale_factor=stride, mode="nearest") if stride > 1 else x
        return self.output(x).transpose(1, 2)


def _jitter(x: Tensor, probability: float) -> Tensor:
    """Replace units by their left or right neighbour: Eq. (11) to (13). x: (B, U, D).

    probability: of either neighbour.
    """
    frames = x.shape[1]
    draw = torch.rand(x.shape[:2], device=x.device)
    step = (draw > 1 - probability).long() - (draw < probability).long()
    source = (torch.arange(frames, device=x.device) + step).clamp(0, frames - 1)
    return x.gather(1, source[..., None].expand_as(x))


@dataclass(frozen=True)
class KMeansConfig:
    """The size of k-means units. stride: frames of 10 ms in a unit."""

    codebook_size: int = 512
    n_features: int = 768
    stride: int = 2

    @property
    def code_width(self) -> int:
        """Return the width of a centroid: that of a frame."""
        return self.n_features


class KMeans(nn.Module):
    """A stand-in for a VQVAE: normalize, then an encoder, which averages over a unit."""

    feature_mean: Tensor
    feature_std: Tensor

    def __init__(self, config: KMeansConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("feature_mean", torch.zeros(config.n_features))
        self.register_buffer("feature_std", torch.ones(config.n_features))
        self.codebook = Codebook(config.codebook_size, config.n_features)

    def normalize(self, features: Tensor) -> Tensor:
        """Normalise by mean and standard deviation of the training set: (B, S, D) → (B, S, D)."""
        return (features - self.feature_mean) / self.feature_std

    def encoder(self, normalized: Tensor) -> Tensor:
        """Average over each unit: (B, S, D) → (B, U, D)."""
        return normalized.unflatten(1, (-1, self.config.stride)).mean(dim=2)

    def encode(self, normalized: Tensor) -> Tensor:
        """Find the codes, S a multiple of the stride: (B, S, D) → (B, U)."""
        return self.codebook.nearest(self.encoder(normalized))


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
