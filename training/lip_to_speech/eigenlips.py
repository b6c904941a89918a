"""The baseline: eigenlips (principal components of mouth crops) and a recurrent network.

Shapes: B batch, N frames of 40 ms, H side of a crop, E components, M mel bands.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.common.loop import fit, save
from training.lip_to_speech.augment import centre_crop
from training.lip_to_speech.batches import Clips

STEPS: Final = 1500
BATCH: Final = 16
LEARNING_RATE: Final = 1e-3
HOPS: Final = 4  # mel frames per frame
N_CROPS: Final = 6000  # crops for the principal components
MEL_STD: Final = 2.5  # nepers, std of log-mel frames


@dataclass(frozen=True)
class EigenlipsConfig:
    side: int = 64
    components: int = 96
    width: int = 344
    layers: int = 2
    dropout: float = 0.3
    n_mels: int = 80


class Eigenlips(nn.Module):
    """E component weights per crop with their first and second differences → log-mel frames."""

    def __init__(self, config: EigenlipsConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("mean", torch.zeros(config.side**2))
        self.register_buffer("components", torch.zeros(config.components, config.side**2))
        self.register_buffer("scale", torch.ones(config.components))
        self.memory = nn.GRU(
            3 * config.components,
            config.width,
            config.layers,
            batch_first=True,
            bidirectional=True,
            dropout=config.dropout,
        )
        self.out = nn.Linear(2 * config.width, HOPS * config.n_mels)

    def learn_components(self, crops: Tensor) -> None:
        """Compute the principal components of crops (N, H, H) from 0 to 1."""
        flat = crops.flatten(1)
        self.mean = flat.mean(dim=0)
        _, sizes, components = torch.pca_lowrank(flat - self.mean, self.config.components, niter=4)
        self.components = components.t().contiguous()
        self.scale = sizes / len(flat) ** 0.5

    def forward(self, crops: Tensor) -> Tensor:
        """Map crops (B, N, H, H) from 0 to 1 to log-mel frames (B, HOPS N, M)."""
        weights = (crops.flatten(2) - self.mean) @ self.components.t() / self.scale
        changes = torch.diff(weights, dim=1, prepend=weights[:, :1])
        second = torch.diff(changes, dim=1, prepend=changes[:, :1])
        states, _ = self.memory(torch.cat([weights, changes, second], dim=-1))
        predicted = self.out(states).unflatten(-1, (HOPS, self.config.n_mels)).flatten(1, 2)
        return predicted * MEL_STD - 2 * MEL_STD


def train_eigenlips(run: Path, name: str) -> None:
    """Train on the arrays of ``prepare``, without augmentation, which would spread the variance of
    the crops over shifts and light."""
    paths = [run / "clips.npz"]
    train, val = Clips(paths, "train"), Clips(paths, "val")
    network = Eigenlips(EigenlipsConfig())
    crops = centre_crop(torch.from_numpy(train.arrays["crops"])).flatten(0, 1)
    sampled = np.random.default_rng(0).permutation(len(crops))[:N_CROPS]
    network.learn_components(crops[sampled].float() / 255)

    def step_loss(generator: torch.Generator) -> Tensor:
        batch = train.batch(BATCH, generator, clean=1.0)
        return F.l1_loss(network(batch.crops), batch.log_mel) / MEL_STD

    @torch.inference_mode()
    def held_out() -> float:
        batch = val.rows(0, len(val))
        return (F.l1_loss(network(batch.crops), batch.log_mel) / MEL_STD).item()

    state = run / f"{name}-state.pt"
    result = fit(network, step_loss, held_out, state, STEPS, LEARNING_RATE)
    save(run, name, network.config, network, result)
