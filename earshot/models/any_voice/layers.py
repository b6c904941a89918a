"""Layers whose norms are set by a voice: feature-wise linear modulation (Perez et al. 2018).

Shapes: B batch, S frames, D width, C width of the condition.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers.attention import attend


class ConditionedNorm(nn.Module):
    """Layer norm whose scale and offset come from a condition; at first they are 1 and 0."""

    def __init__(self, width: int, condition_width: int) -> None:
        super().__init__()
        self.modulation = nn.Linear(condition_width, 2 * width)
        nn.init.zeros_(self.modulation.weight)
        nn.init.zeros_(self.modulation.bias)

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Normalise x (B, S, D) under a condition (B, C) → (B, S, D)."""
        scale, offset = self.modulation(condition)[:, None].chunk(2, dim=-1)
        return F.layer_norm(x, x.shape[-1:]) * (1 + scale) + offset


class ConditionedTransformerLayer(nn.Module):
    """Self-attention with rotary positions and two projections, each after a conditioned norm."""

    def __init__(self, width: int, heads: int, inner: int, condition_width: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = ConditionedNorm(width, condition_width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.inner_norm = ConditionedNorm(width, condition_width)
        self.inner = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Transform x (B, S, D) under a condition (B, C) → (B, S, D)."""
        projected = self.query_key_value(self.attention_norm(x, condition))
        x = x + self.attention_out(attend(projected, self.heads))
        return x + self.inner(self.inner_norm(x, condition))


class ConditionedConvolution(nn.Module):
    """ConvNeXt block (Liu et al. 2022) with a conditioned norm."""

    def __init__(self, width: int, inner: int, condition_width: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv1d(width, width, 7, padding=3, groups=width)
        self.norm = ConditionedNorm(width, condition_width)
        self.inner = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))
        self.scale = nn.Parameter(torch.full((width,), 0.3))

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Convolve x (B, S, D) under a condition (B, C) → (B, S, D)."""
        y = self.depthwise(x.transpose(1, 2)).transpose(1, 2)
        return x + self.scale * self.inner(self.norm(y, condition))
