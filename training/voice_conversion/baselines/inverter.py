"""Train a codebook inverter on the target voices, for the units of a trained VQ-VAE, and a vocoder
on their spectrograms and F0.

An inverter's inputs are units of augmented views of the target voices (VTLP, channel, noise), so
that it learns to invert the units of other speakers too; units over a front end are those of the
recordings as they are.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.media.constants import HOP_LENGTH, N_FFT
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.models.vqvae import (
    VQVAE,
    CodebookInverter,
    CodebookInverterConfig,
    KMeans,
    KMeansConfig,
    VQVAEConfig,
)
from training.common.commands import front_end_of
from training.common.loop import device, fit, save
from training.common.spectral_loss import SpectralLoss
from training.common.windows import Windows
from training.voice_conversion.baselines.augment import Cepstra, augment
from training.voice_conversion.speech import relative_contour

WINDOW, VOCODER_WINDOW = 200, 100  # frames
BATCH, VOCODER_BATCH = 16, 8
LEARNING_RATE = 1e-3
VOICING_WEIGHT = 0.2
PITCH_WEIGHT = 2.0


def train_inverter(
    run: Path,
    name: str,
    units: str,
    config: CodebookInverterConfig,
    steps: int,
    start: str | None = None,
) -> None:
    """Train for the units run/units.pt, from the weights of run/start.pt if that is given.

    With pitch, the target is the log-mel spectrogram, by L1 distance; without (the paper's) it is
    the linear magnitude, by L2 distance, Eq. (14). Writes run/name.pt.
    """
    quantizer = _load_units(run / f"{units}.pt")
    cepstra = Cepstra(run / "constants.npz")
    train = Windows(run / "voices-train.npz", balance="voice")
    val = Windows(run / "voices-val.npz")
    config = replace(config, stride=quantizer.config.stride, code_width=quantizer.config.code_width)
    network = CodebookInverter(config).to(device())
    if start:
        saved = torch.load(run / f"{start}.pt", weights_only=True, map_location=device())
        network.load_state_dict(saved["network"])
    raw = front_end_of(run) is not None
    seen = "features" if raw else "log_bands"
    names = (seen, "log_mel" if config.pitch else "waveform", "pitch", "voice")
    pitch_means = _mean_log_pitch(train)
    if config.pitch:
        config = replace(config, pitch_means=tuple(pitch_means.tolist()))
    _fit_scale(network, _spectrogram(train.windows(names, WINDOW)[1][::4]))

    def loss(batch: list[Tensor], generator: torch.Generator) -> Tensor:
        frames = batch[0] if raw else augment(batch[0], generator)
        target, pitch, voice = (part.to(device()) for part in batch[1:])
        voice = voice[:, 0]
        with torch.no_grad():
            frames = frames.to(device())
            codes = quantizer.encode(quantizer.normalize(frames if raw else cepstra(frames)))
        contour = relative_contour(pitch, pitch_means[voice])
        predicted, logits = network(quantizer.codebook.vectors[codes], voice, contour)
        distance = spectrogram_loss(predicted, _spectrogram(target), network.output_std, config)
        return distance if logits is None else distance + contour_loss(logits, contour)

    def step_loss(generator: torch.Generator) -> Tensor:
        return loss(train.batch(names, BATCH, WINDOW, generator), generator)

    @torch.no_grad()
    def validate() -> float:
        return loss(val.windows(names, WINDOW), torch.Generator().manual_seed(1)).item()

    result = fit(network, step_loss, validate, run / f"{name}.state", steps, LEARNING_RATE)
    save(run, name, config, network, result)


def _load_units(path: Path) -> VQVAE | KMeans:
    """Load a trained VQ-VAE or k-means, frozen."""
    saved = torch.load(path, weights_only=True, map_location=device())
    config = saved["config"]
    is_vqvae = "strides" in config
    network = VQVAE(VQVAEConfig(**config)) if is_vqvae else KMeans(KMeansConfig(**config))
    network.to(device()).eval().requires_grad_(False).load_state_dict(saved["network"])
    return network


def spectrogram_loss(
    predicted: Tensor, target: Tensor, std: Tensor, config: CodebookInverterConfig
) -> Tensor:
    """Measure the distance of spectrograms (B, S, n_outputs), scaled by the target's std: a scalar.

    L1 of log-mel spectrograms with config.pitch; without, L2 of linear ones, Eq. (14).
    """
    distance = F.l1_loss if config.pitch else F.mse_loss
    return distance(predicted / std, target / std)


def contour_loss(predicted: Tensor, contour: Tensor) -> Tensor:
    """Add up the weighted cross entropy of voicing and the L1 distance of log-F0: a scalar.

    predicted: (B, S, 2), voicing logit and relative log-F0; contour: (B, S, 2), the reference,
    with voicing 0 or 1. Log-F0 counts in voiced frames only.
    """
    voiced = contour[..., 0] > 0
    voicing = F.binary_cross_entropy_with_logits(predicted[..., 0], contour[..., 0])
    log_f0 = F.l1_loss(predicted[..., 1][voiced], contour[..., 1][voiced])
    return VOICING_WEIGHT * voicing + PITCH_WEIGHT * log_f0


def _spectrogram(target: Tensor) -> Tensor:
    """Keep a log-mel spectrogram as it is; map a waveform (B, T) to linear magnitude (B, S, n_fft
    // 2 + 1).
    """
    if target.ndim == 3:
        return target
    window = torch.hann_window(N_FFT, device=target.device)
    spectrum = torch.stft(target, N_FFT, HOP_LENGTH, window=window, return_complex=True)
    return spectrum.abs().transpose(1, 2)[:, :-1]


def _fit_scale(network: CodebookInverter, target: Tensor) -> None:
    network.output_mean.copy_(target.mean(dim=(0, 1)))
    network.output_std.copy_(target.std(dim=(0, 1)) if network.contour else target.std())


def _mean_log_pitch(train: Windows) -> Tensor:
    """Average the log-F0 of each voice: (n_voices,)."""
    pitch, voice = train.arrays["pitch"], train.arrays["voice"]
    return torch.stack(
        [pitch[(voice == v) & (pitch > 0)].log().mean() for v in range(int(voice.max()) + 1)]
    ).to(device())


def train_vocoder(run: Path, name: str, config: VocoderConfig, steps: int) -> None:
    """Train on the arrays of ``prepare`` in ``run``; write run/name.pt."""
    train, val = Windows(run / "voices-train.npz", "voice"), Windows(run / "voices-val.npz")
    network = Vocoder(config).to(device())
    with np.load(run / "constants.npz") as file:
        distance = SpectralLoss(torch.from_numpy(file["mel_filters"])).to(device())
    names = ("log_mel", "waveform", "pitch")

    def loss(batch: list[Tensor]) -> Tensor:
        mel, reference, pitch = (part.to(device()) for part in batch)
        return distance(network(mel, pitch), reference)

    def step_loss(generator: torch.Generator) -> Tensor:
        return loss(train.batch(names, VOCODER_BATCH, VOCODER_WINDOW, generator))

    @torch.no_grad()
    def validate() -> float:
        return loss(val.windows(names, 400)).item()

    result = fit(network, step_loss, validate, run / f"{name}.state", steps, LEARNING_RATE)
    save(run, name, config, network, result)
