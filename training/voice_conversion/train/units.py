"""Train the Transformer VQ-VAE (Tjandra et al. 2020, section 3) on all the speech there is.

The encoder hears disturbed speech (another vocal tract, room and line) and the decoder must give
back the clean cepstra of the named speaker, so that units keep the words and lose the talker.
With contrast, two disturbed copies of the same speech must be heard alike, as Gat et al. (2023)
ask of the units of larger models.
"""

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from models.vqvae import VQVAE, VQVAEConfig
from training.common.loop import device, fit, save
from training.voice_conversion.data.augment import disturb
from training.voice_conversion.data.batches import Cepstra, Windows

WINDOW = 160  # frames
BATCH = 32
TEMPERATURE = 0.1
NEAR = 0.06  # seconds around an encoding whose neighbours need not differ from it
LEARNING_RATE = 1.5e-3


def train_units(
    run: Path, name: str, config: VQVAEConfig, steps: int, start: str | None = None
) -> None:
    """Train one model on the arrays of ``prepare`` in ``run``; write run/name.pt.

    start: the model in run/start.pt whose weights, all but the codebook, are the first ones.
    """
    cepstra = Cepstra(run / "constants.npz")
    train, val = Windows(run / "units-train.npz"), Windows(run / "units-val.npz")
    config = replace(config, n_speakers=int(train.arrays["speaker"].max()) + 1)
    views = 2 if config.contrast else 1
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
        features = cepstra(disturb(bands, generator).to(device()))
        output = network(features, cepstra(bands.to(device())), speaker.to(device()))
        if views == 1:
            return output.loss
        return output.loss + config.contrast * contrast(*output.z.chunk(2))

    @torch.no_grad()
    def validate() -> float:
        """Share of units that change when the speech is disturbed: lower is steadier."""
        generator = torch.Generator().manual_seed(1)
        clean = network.encode(network.normalize(cepstra(val_bands)))
        other = disturb(val_bands.cpu(), generator).to(device())
        disturbed = network.encode(network.normalize(cepstra(other)))
        return (clean != disturbed).float().mean().item()

    result = fit(network, step_loss, validate, run / f"{name}.state", steps, LEARNING_RATE)
    save(run, name, config, network, result)


def contrast(one: Tensor, other: Tensor) -> Tensor:
    """How hard it is to find a moment of one view among those of the other (InfoNCE, van den Oord
    et al. 2018). All moments are of one talker, so that only what is said can tell them apart.

    one, other: (B, U, code_width). Returns a scalar.
    """
    one, other = F.normalize(one, dim=-1), F.normalize(other, dim=-1)
    similarity = one @ other.transpose(1, 2) / TEMPERATURE  # (B, U, U)
    units = torch.arange(one.shape[1], device=one.device)
    distance = (units[:, None] - units).abs() * (WINDOW * 0.01 / len(units))
    near = (distance > 0) & (distance <= NEAR)
    similarity = similarity.masked_fill(near, float("-inf"))
    return F.cross_entropy(similarity.flatten(0, 1), units.repeat(len(one)))


def _start_from(network: VQVAE, path: Path, features: Tensor) -> None:
    """Take over all weights that fit (a convolution of another stride does not), but the codebook,
    which starts at outputs of the encoder."""
    saved = torch.load(path, weights_only=True, map_location=device())["network"]
    own = network.state_dict()
    fits = {n: w for n, w in saved.items() if own[n].shape == w.shape and "codebook" not in n}
    network.load_state_dict({**own, **fits})
    with torch.no_grad():
        z = network.encoder(network.normalize(features.to(device()))).flatten(0, 1)
    chosen = z[torch.randperm(len(z))[: network.config.codebook_size]]
    network.codebook.vectors.copy_(chosen)
    network.codebook.total.copy_(chosen)


def _statistics(train: Windows, cepstra: Cepstra) -> tuple[Tensor, Tensor]:
    """Mean over the frames louder than average, and standard deviation, of the features."""
    bands = train.windows(("log_bands",), WINDOW)[0][::5]
    features = cepstra(bands)
    level = features[..., 0]
    loud = level >= level.mean(dim=1, keepdim=True)
    return features[loud].mean(dim=0), features.flatten(0, 1).std(dim=0)
