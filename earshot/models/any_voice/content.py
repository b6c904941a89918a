"""The content of speech in any voice: an adapter computes it from the states of a recogniser, and a
bottleneck passes it on as it is, or as units of one or more codebooks.

Shapes: B batch, U steps of 20 ms, L layers, D width of a layer's states, or of the content.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import log2
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.any_voice import CONTINUOUS
from earshot.models.layers import Codebook, Memory, TransformerLayer

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
        inputs = len(config.recogniser_layers) * config.state_width
        self.input = nn.Conv1d(inputs, config.width, 3, padding=1)
        layer = (config.width, config.heads, config.inner, 0.0, True)
        self.layers = nn.Sequential(*(TransformerLayer(*layer) for _ in range(config.layers)))
        self.norm = nn.LayerNorm(config.width)
        self.output = nn.Linear(config.width, config.content_width)

    def forward(self, states: Tensor, memories: Sequence[Memory | None] = ()) -> Tensor:
        """Map states (B, U, L * D) to content (B, U, content_width), each step of mean 0 and
        variance 1. memories: of each layer, where the states are some of a stream's.
        """
        parts = states.split(self.config.state_width, dim=-1)
        normed = torch.cat([n(x) for n, x in zip(self.norm_in, parts, strict=True)], dim=-1)
        x = F.gelu(self.input(normed.transpose(1, 2))).transpose(1, 2)
        for layer, memory in zip_longest(self.layers, memories):
            x = layer(x, memory)
        content = self.output(self.norm(x))
        return F.layer_norm(content.float(), content.shape[-1:])


STEPS_PER_SECOND: Final = 50.0


@dataclass(frozen=True)
class BottleneckConfig:
    """Single codebooks of several sizes, and residual ones that refine the largest."""

    content_width: int = 32
    sizes: tuple[int, ...] = (64, 128, 256, 512)
    residual: tuple[int, ...] = (512, 512)
    noise: float = 0.25  # standard deviation, on continuous content in training

    @property
    def names(self) -> tuple[str, ...]:
        """List all bottlenecks: continuous, units-64 …, units-512x2 …"""
        refined = [f"{self.singles[-1]}x{2 + n}" for n in range(len(self.residual))]
        return (CONTINUOUS, *self.singles, *refined)

    @property
    def singles(self) -> tuple[str, ...]:
        """List the bottlenecks of one codebook, the largest last."""
        return tuple(f"units-{size}" for size in self.sizes)


class Bottleneck(nn.Module):
    """All bottlenecks; each row of a batch passes through the one that is chosen for it."""

    def __init__(self, config: BottleneckConfig) -> None:
        super().__init__()
        self.config = config
        self.codebooks = nn.ModuleList(Codebook(n, config.content_width) for n in config.sizes)
        self.refining = nn.ModuleList(Codebook(n, config.content_width) for n in config.residual)

    def forward(self, content: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """Pass content through the chosen bottlenecks, with the gradient straight through, and
        compute the commitment loss.

        content: (B, U, D); chosen: (B,) indices of config.names. In training every codebook
        follows all the content (exponential moving average), whatever is chosen.
        """
        noise = self.config.noise * torch.randn_like(content) if self.training else 0.0
        passed = [content + noise, *self._quantized(content.detach())]
        straight = [passed[0], *(content + (q - content).detach() for q in passed[1:])]
        places = torch.arange(len(content), device=content.device)
        target = torch.stack([content, *passed[1:]])[chosen, places]
        rows = torch.stack(straight)[chosen, places]
        return rows, F.mse_loss(content, target.detach())

    def encode(self, content: Tensor, name: str) -> Tensor:
        """Find the codes of content (U, D) in the bottleneck ``name``: (U, number of codebooks)."""
        codes = []
        for codebook in self._stack(name):
            codes.append(codebook.nearest(content[None])[0])
            content = content - codebook.vectors[codes[-1]]
        return torch.stack(codes, dim=1)

    def decode(self, codes: Tensor, name: str) -> Tensor:
        """Add up the vectors of codes (U, number of codebooks): (U, D)."""
        books = self._stack(name)
        return torch.stack([b.vectors[codes[:, n]] for n, b in enumerate(books)]).sum(dim=0)

    def codebook(self, name: str) -> Tensor:
        """Look up the vectors of a bottleneck of one codebook: (K, D)."""
        return self._stack(name)[0].vectors

    def bits_per_second(self, name: str) -> float:
        """Compute the rate of a bottleneck's codes; infinite where it is continuous."""
        if name == CONTINUOUS:
            return float("inf")
        return STEPS_PER_SECOND * sum(log2(len(book.vectors)) for book in self._stack(name))

    def _stack(self, name: str) -> list[Codebook]:
        """List the codebooks of a bottleneck, the refining ones after the one that they refine."""
        place = self.config.names.index(name) - 1
        singles = len(self.config.sizes)
        if place < singles:
            return [self.codebooks[place]]  # type: ignore[list-item]
        return [self.codebooks[-1], *self.refining[: place - singles + 1]]  # type: ignore[list-item]

    def _quantized(self, content: Tensor) -> list[Tensor]:
        """Quantise content (B, U, D) by every set of units."""
        passed = [self._nearest(book, content) for book in self.codebooks]
        total = passed[-1]
        for book in self.refining:
            total = total + self._nearest(book, content - total)
            passed.append(total)
        return passed

    def _nearest(self, book: nn.Module, content: Tensor) -> Tensor:
        assert isinstance(book, Codebook)
        codes = book.nearest(content)
        quantized = book.vectors[codes]
        if self.training:
            book.update(content, codes)
        return quantized
