"""Train the Transformer VQ-VAE (Tjandra et al. 2020, section 3) on all the speech there is.

The encoder hears disturbed speech (another vocal tract, room and line) and the decoder must give
back the clean cepstra of the named speaker, so that units keep the words and lose the talker.
"""

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from models.vqvae import VQVAE, VQVAEConfig
from training.voice_conversion.augment import disturb
from training.voice_conversion.data import Cepstra, Windows
from training.voice_conversion.loop import device, fit, save

WINDOW = 160  # frames
BATCH = 32
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
    network = VQVAE(config).to(device())
    mean, std = _statistics(train, cepstra)
    network.feature_mean.copy_(mean)
    network.feature_std.copy_(std)
    if start:
        bands = train.batch(("log_bands",), 100, WINDOW, torch.Generator().manual_seed(0))[0]
        _start_from(network, run / f"{start}.pt", cepstra(bands))
    val_bands = val.windows(("log_bands",), WINDOW)[0][::4].to(device())

    def step_loss(generator: torch.Generator) -> Tensor:
        bands, speaker = train.batch(("log_bands", "speaker"), BATCH, WINDOW, generator)
        features = cepstra(disturb(bands, generator).to(device()))
        return network(features, cepstra(bands.to(device())), speaker.to(device())).loss

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


def _start_from(network: VQVAE, path: Path, features: Tensor) -> None:
    """Take over all weights but the codebook, which starts at outputs of the encoder."""
    saved = torch.load(path, weights_only=True, map_location=device())["network"]
    own = {n: w for n, w in network.state_dict().items() if n.startswith("codebook.")}
    network.load_state_dict({**saved, **own})
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
