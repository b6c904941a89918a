"""Units over the frames of a frozen speech model (``prepare --front-end``), instead of MFCC.

By k-means, or by the VQ-VAE that the MFCC units have. The frames are not augmented: what VTLP and
the contrastive loss do for MFCC, the pretraining is to have done.

Shapes: N frames, D width of a frame, K units.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.models.vqvae import VQVAE, KMeans, KMeansConfig, VQVAEConfig
from training.common.kmeans import kmeans
from training.common.loop import device, fit, save
from training.common.windows import Windows
from training.voice_conversion.train.units import BATCH, LEARNING_RATE, WINDOW

SAMPLE: Final = 100_000  # frames that the centroids are fitted to
# The loudness that VQVAE.normalize looks for is no feature here: all frames have the training mean.
TRAINING_MEAN: Final = 1e9


def train_kmeans(run: Path, name: str, config: KMeansConfig) -> None:
    """Fit the centroids to the arrays of ``prepare`` in ``run``; write run/name.pt."""
    frames = Windows(run / "units-train.npz").arrays["features"]
    generator = torch.Generator().manual_seed(0)
    sample = frames[torch.randperm(len(frames), generator=generator)[:SAMPLE]].float()
    network = KMeans(replace(config, n_features=frames.shape[1])).to(device())
    _fit_statistics(network, sample)
    normalized = network.normalize(sample.to(device()))
    centroids, error = kmeans(normalized, len(network.codebook.vectors), generator)
    network.codebook.vectors.copy_(centroids)
    save(run, name, network.config, network, {"hours": 0.0, "score": error})


def train_vq(run: Path, name: str, config: VQVAEConfig, steps: int) -> None:
    """Train a VQ-VAE on the arrays of ``prepare`` in ``run``; write run/name.pt."""
    train, val = Windows(run / "units-train.npz"), Windows(run / "units-val.npz")
    frames = train.arrays["features"]
    config = replace(
        config,
        n_features=frames.shape[1],
        n_speakers=int(train.arrays["speaker"].max()) + 1,
        mean_prior=TRAINING_MEAN,
    )
    network = VQVAE(config).to(device())
    _fit_statistics(network, frames[:: max(1, len(frames) // SAMPLE)].float())
    unheard = val.windows(("features",), WINDOW)[0][::4].to(device())

    def step_loss(generator: torch.Generator) -> Tensor:
        features, speaker = train.batch(("features", "speaker"), BATCH, WINDOW, generator)
        features = features.to(device())
        return network(features, features, speaker.to(device())).loss

    @torch.no_grad()
    def validate() -> float:
        """Measure how far outputs of the encoder are from their units."""
        z = network.encoder(network.normalize(unheard)).float()
        return F.mse_loss(z, network.codebook.vectors[network.codebook.nearest(z)]).item()

    result = fit(network, step_loss, validate, run / f"{name}.state", steps, LEARNING_RATE)
    save(run, name, config, network, result)


def _fit_statistics(network: KMeans | VQVAE, frames: Tensor) -> None:
    network.feature_mean.copy_(frames.mean(dim=0))
    network.feature_std.copy_(frames.std(dim=0).clamp(min=1e-3))
