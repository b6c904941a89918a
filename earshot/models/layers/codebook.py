"""Codebook: vectors that outputs of an encoder are replaced by, each by the nearest.

Shapes: B batch, U units.
"""

import torch
from torch import Tensor, nn


class Codebook(nn.Module):
    """K vectors that follow the encoder by exponential moving average (van den Oord et al. 2017).

    A vector that is hardly used restarts at a random encoder output (Dhariwal et al. 2020).
    """

    DECAY = 0.99
    RESTART_BELOW = 0.1  # expected uses of a unit in a batch

    vectors: Tensor
    usage: Tensor
    total: Tensor

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.register_buffer("vectors", torch.randn(size, width))
        self.register_buffer("usage", torch.ones(size))
        self.register_buffer("total", self.vectors.clone())

    def nearest(self, z: Tensor) -> Tensor:
        """Find the index of the nearest vector by L2 distance, Eq. (4): (B, U, width) → (B, U)."""
        with torch.autocast(z.device.type, enabled=False):  # half precision confuses close vectors
            distance = self.vectors.square().sum(dim=-1) - 2 * z.float() @ self.vectors.T
        return distance.argmin(dim=-1)

    @torch.no_grad()
    def update(self, z: Tensor, codes: Tensor) -> None:
        """Move each vector towards the mean of the outputs assigned to it; restart unused ones.

        z: (B, U, width) encoder outputs; codes: (B, U).
        """
        z, codes = z.flatten(0, 1), codes.flatten()
        counts = torch.zeros_like(self.usage).index_add_(0, codes, torch.ones_like(z[:, 0]))
        self.usage.lerp_(counts, 1 - self.DECAY)
        self.total.lerp_(torch.zeros_like(self.total).index_add_(0, codes, z), 1 - self.DECAY)
        # Without asking whether there is any: a GPU would have to wait for the answer.
        dead = self.usage < self.RESTART_BELOW
        anywhere = z[torch.randint(len(z), (len(dead),), device=z.device)]
        self.total.copy_(torch.where(dead[:, None], anywhere, self.total))
        self.usage.masked_fill_(dead, 1.0)
        self.vectors.copy_(self.total / self.usage[:, None])
