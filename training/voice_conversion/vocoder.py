"""Train the neural vocoder on the target voices: first on real spectrograms with spectral losses,
then on those of an inverter with discriminators, so that it mends what inverters blur.

The spectral loss is the L1 distance of log magnitudes and the spectral convergence at several
resolutions (Yamamoto et al. 2020), and the log-mel distance. The adversarial losses are those of
Vocos (Siuzdak 2023): hinge and feature matching.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.vocoder import Vocoder, VocoderConfig
from training.voice_conversion.data import Windows
from training.voice_conversion.discriminator import RESOLUTIONS, magnitude
from training.voice_conversion.loop import device, fit, save

WINDOW = 64  # frames
BATCH = 12
LEARNING_RATE = 1e-3
MEL_WEIGHT = 4.0
FLOOR = 1e-5


class SpectralLoss(nn.Module):
    """Distance between waveforms (B, T) in log magnitude and log mel."""

    def __init__(self, constants: Path) -> None:
        super().__init__()
        with np.load(constants) as file:
            self.register_buffer("filters", torch.from_numpy(file["mel_filters"]))

    def forward(self, made: Tensor, real: Tensor) -> Tensor:
        """Sum of the distances, a scalar."""
        loss = MEL_WEIGHT * F.l1_loss(self._log_mel(made), self._log_mel(real))
        for n_fft, hop in RESOLUTIONS:
            a, b = magnitude(made, n_fft, hop), magnitude(real, n_fft, hop)
            convergence = (b - a).norm(dim=(1, 2)) / b.norm(dim=(1, 2)).clamp(min=1e-3)
            loss = loss + convergence.mean() + F.l1_loss(_log(a), _log(b))
        return loss

    def _log_mel(self, waveform: Tensor) -> Tensor:
        n_fft = 2 * (self.filters.shape[1] - 1)
        return _log(self.filters @ magnitude(waveform, n_fft, n_fft // 4))


def train_vocoder(run: Path, name: str, config: VocoderConfig, steps: int) -> None:
    """Train with spectral losses on the arrays of ``prepare`` in ``run``; write run/name.pt."""
    train, val = Windows(run / "voices-train.npz"), Windows(run / "voices-val.npz")
    network = Vocoder(config).to(device())
    distance = SpectralLoss(run / "constants.npz").to(device())

    def step_loss(generator: torch.Generator) -> Tensor:
        mel, real = train.batch(("log_mel", "waveform"), BATCH, WINDOW, generator)
        return distance(network(mel.to(device())), real.to(device()))

    @torch.no_grad()
    def validate() -> float:
        mel, real = val.windows(("log_mel", "waveform"), 400)
        return distance(network(mel.to(device())), real.to(device())).item()

    result = fit(network, step_loss, validate, run / f"{name}.state", steps, LEARNING_RATE)
    save(run, name, config, network, result)


def _log(magnitude: Tensor) -> Tensor:
    return magnitude.clamp(min=FLOOR).log()
