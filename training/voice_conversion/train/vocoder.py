"""Train the neural vocoder on the reference spectrograms and F0 of the target voices."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from earshot.models.vocoder import Vocoder, VocoderConfig
from training.common.loop import device, fit, save
from training.common.spectral_loss import SpectralLoss
from training.common.windows import Windows

WINDOW = 100  # frames
BATCH = 8
LEARNING_RATE = 1e-3


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
        return loss(train.batch(names, BATCH, WINDOW, generator))

    @torch.no_grad()
    def validate() -> float:
        return loss(val.windows(names, 400)).item()

    result = fit(network, step_loss, validate, run / f"{name}.state", steps, LEARNING_RATE)
    save(run, name, config, network, result)
