"""A conformer's convolution and feed-forward without its attention: it hears what is near, alone.

Shapes: B batch, S steps, C width.
"""

from typing import Final

from torch import Tensor, nn
from torch.nn import functional as F

KERNEL: Final = 3  # steps that the convolution sees


class NearLayer(nn.Module):
    """A gated convolution and a feed-forward, both residual."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.gated = nn.Linear(width, 2 * width)
        self.convolution = nn.Conv1d(width, width, KERNEL, padding=KERNEL // 2, groups=width)
        self.inner_norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, width)
        self.feed = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, inner), nn.SiLU(), nn.Linear(inner, width)
        )

    def forward(self, x: Tensor, real: Tensor) -> Tensor:
        """(B, S, C) → (B, S, C); real (B, S) is false for padding, which counts as zero."""
        gated = F.glu(self.gated(self.norm(x)), dim=-1) * real[..., None]
        convolved = self.convolution(gated.transpose(1, 2)).transpose(1, 2)
        x = x + self.out(F.silu(self.inner_norm(convolved)))
        return x + self.feed(x)
