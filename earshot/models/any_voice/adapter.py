"""Adapter: states of a recogniser → numbers that say what is said, and not by whom.

Shapes: B batch, U steps of 20 ms, L layers, D width of a layer's states.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers.transformer import TransformerLayer

STRIDE: Final = 2  # frames of 10 ms in a step


@dataclass(frozen=True)
class AdapterConfig:
    """Sizes of the network, and which layers of the recogniser it is given."""

    recogniser_layers: tuple[int, ...] = (3, 6)
    state_width: int = 288
    width: int = 256
    heads: int = 4
    inner: int = 768
    layers: int = 2
    content_width: int = 32


class Adapter(nn.Module):
    """A norm for each layer's states, a convolution and Transformer layers."""

    def __init__(self, config: AdapterConfig) -> None:
        super().__init__()
        self.config = config
        self.norm_in = nn.ModuleList(
            nn.LayerNorm(config.state_width) for _ in config.recogniser_layers
        )
        given = len(config.recogniser_layers) * config.state_width
        self.input = nn.Conv1d(given, config.width, 3, padding=1)
        layer = (config.width, config.heads, config.inner, 0.0, True)
        self.layers = nn.Sequential(*(TransformerLayer(*layer) for _ in range(config.layers)))
        self.norm = nn.LayerNorm(config.width)
        self.output = nn.Linear(config.width, config.content_width)

    def forward(self, states: Tensor) -> Tensor:
        """Map states (B, U, L * D) to content (B, U, content_width), each step of mean 0 and
        variance 1.
        """
        parts = states.split(self.config.state_width, dim=-1)
        normed = torch.cat([n(x) for n, x in zip(self.norm_in, parts, strict=True)], dim=-1)
        x = F.gelu(self.input(normed.transpose(1, 2))).transpose(1, 2)
        content = self.output(self.norm(self.layers(x)))
        return F.layer_norm(content.float(), content.shape[-1:])
