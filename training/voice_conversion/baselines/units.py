"""Train units: the Transformer VQ-VAE (Tjandra et al. 2020, section 3), or k-means.

Over MFCC, the encoder sees augmented speech (VTLP, channel, noise); the decoder, given the speaker,
reconstructs the clean cepstra, so that the units keep the words and lose the speaker. With a
contrastive weight, an InfoNCE loss aligns the encodings of two augmented views of each window: the
invariance that Gat et al. (2023) ask of units.

Over the frames of a frozen speech model (``prepare --front-end``), nothing is augmented: what VTLP
and the contrastive loss do for MFCC, the pretraining is to have done.

Shapes: B batch, U units of a window, N frames, D width of a frame.
"""

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.media.constants import FRAME_SECONDS, FRAMES_PER_SECOND
from earshot.models.vqvae import VQVAE, KMeans, KMeansConfig, VQVAEConfig
from training.common.checkpoints import load_matching_weights
from training.common.kmeans import kmeans
from training.common.loop import device, fit, save
from training.common.windows import Windows
from training.voice_conversion.baselines.augment import Cepstra, augment

WINDOW = round(1.6 * FRAMES_PER_SECOND)  # frames
BATCH = 32
TEMPERATURE = 0.1
LOCAL = 0.06  # seconds around a unit within which others are no negatives
LEARNING_RATE = 1.5e-3
SAMPLE = 100_000  # frames that the centroids are fitted to
# The loudness that VQVAE.normalize looks for is no feature here: all frames have the training mean.
TRAINING_MEAN = 1e9


def train_units(
    run: Path,
    name: str,
    config: VQVAEConfig,
    steps: int,
    start: str | None = None,
    augmented: bool = True,
) -> None:
    """Train one model on the arrays of ``prepare`` in ``run``; write run/name.pt.

    start: name of a trained model whose weights, except the codebook, initialise this one;
    augmented: whether the encoder is given augmented speech, as it does not in the paper.
    """
    cepstra = Cepstra(run / "constants.npz")
    train, val = Windows(run / "units-train.npz"), Windows(run / "units-val.npz")
    config = replace(config, n_speakers=int(train.arrays["speaker"].max()) + 1)
    views = 2 if config.contrastive_weight else 1
    network = VQVAE(config).to(device())
    mean, std = _statistics(train, cepstra)
    network.feature_mean.copy_(mean)
    network.feature_std.copy_(std)
    if start:
        bands = train.batch(("log_bands",), 100, WINDOW, torch.Generator().manual_seed(0))[0]
        _start_from(network, run / f"{start}.pt", cepstra(bands))
    val_bands = val.windows(("log_bands",), WINDOW)[0][::4].to(device())

    def step_loss(generator: torch.Generator) -> Tensor:
        names = ("log_bands", "speaker")
        bands, speaker = train.batch(names, BATCH // views, WINDOW, generator)
        bands, speaker = bands.repeat(views, 1, 1), speaker.repeat(views, 1)
        noisy = augment(bands, generator) if augmented else bands
        clean = cepstra(bands.to(device()))
        output = network(cepstra(noisy.to(device())), clean, speaker.to(device()))
        if views == 1:
            return output.loss
        return output.loss + config.contrastive_weight * contrastive_loss(*output.z.chunk(2))

    @torch.no_grad()
    def validate() -> float:
        """Measure the share of units that augmentation changes."""
        generator = torch.Generator().manual_seed(1)
        clean = network.encode(network.normalize(cepstra(val_bands)))
        view = augment(val_bands.cpu(), generator).to(device())
        augmented = network.encode(network.normalize(cepstra(view)))
        return (clean != augmented).float().mean().item()

    result = fit(network, step_loss, validate, run / f"{name}.state", steps, LEARNING_RATE)
    save(run, name, config, network, result)


def contrastive_loss(one: Tensor, other: Tensor) -> Tensor:
    """Compute InfoNCE (van den Oord et al. 2018) between the encodings of two views of each window.

    A unit of one view is to be found among all units of the other view. Negatives come from the
    same window, hence from the same speaker, so that they differ in their words alone.

    one, other: (B, U, code_width). Returns a scalar.
    """
    one, other = F.normalize(one, dim=-1), F.normalize(other, dim=-1)
    similarity = one @ other.transpose(1, 2) / TEMPERATURE  # (B, U, U)
    units = torch.arange(one.shape[1], device=one.device)
    distance = (units[:, None] - units).abs() * (WINDOW * FRAME_SECONDS / len(units))  # seconds
    local = (distance > 0) & (distance <= LOCAL)
    similarity = similarity.masked_fill(local, float("-inf"))
    return F.cross_entropy(similarity.flatten(0, 1), units.repeat(len(one)))


def _start_from(network: VQVAE, path: Path, features: Tensor) -> None:
    """Copy all weights that fit (a convolution of another stride does not) except the codebook,
    which starts at outputs of the encoder."""
    load_matching_weights(network, path, skip=["codebook"])
    with torch.no_grad():
        z = network.encoder(network.normalize(features.to(device()))).flatten(0, 1)
    chosen = z[torch.randperm(len(z))[: network.config.codebook_size]]
    network.codebook.vectors.copy_(chosen)
    network.codebook.total.copy_(chosen)


def _statistics(train: Windows, cepstra: Cepstra) -> tuple[Tensor, Tensor]:
    """Compute the mean over the frames louder than average, and std over all frames: (n_features,)
    each.
    """
    bands = train.windows(("log_bands",), WINDOW)[0][::5]
    features = cepstra(bands)
    level = features[..., 0]
    loud = level >= level.mean(dim=1, keepdim=True)
    return features[loud].mean(dim=0), features.flatten(0, 1).std(dim=0)


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
