"""Layers that several networks are built from: attention, Transformer, conformer, codebook.

Shapes: B batch, S steps (frames, units or phonemes), D width, H heads, U units.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def sinusoidal_positions(
    frames: int, width: int, device: torch.device, base: float = 10_000.0
) -> Tensor:
    """Compute sine and cosine position vectors (Vaswani et al. 2017): (frames, width)."""
    angles = _angles(frames, width, device, base)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def rotate(x: Tensor, first: int = 0) -> Tensor:
    """Rotate queries or keys by their positions, from ``first`` on: (…, S, D / H) → the same (Su
    et al. 2021)."""
    angles = _angles(first + x.shape[-2], x.shape[-1], x.device)[first:]
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def _angles(frames: int, width: int, device: torch.device, base: float = 10_000.0) -> Tensor:
    """Compute the angle of every frame at every frequency, in radians: (frames, width / 2)."""
    rates = base ** (-torch.arange(0, width, 2, device=device) / width)
    return torch.arange(frames, device=device)[:, None] * rates


class Memory:
    """Keys and values (B, H, S, D / H) of the steps of a stream before those of the next pass, so
    that attention sees steps that are not computed again.
    """

    def __init__(self) -> None:
        self._keys = self._values = torch.zeros(0)
        self._past = 0  # of their steps, before those of the last pass

    def move(self, steps: int, most: int) -> None:
        """Begin a pass whose first step is so many steps after that of the last; at most ``most``
        before it stay.
        """
        end = self._past + steps
        kept_steps = slice(max(0, end - most), end)
        if end:
            self._keys, self._values = self._keys[:, :, kept_steps], self._values[:, :, kept_steps]
        self._past = end - kept_steps.start

    def join(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Put those of a pass after those before it, and keep both."""
        if self._past:
            keys = torch.cat([self._keys, keys], dim=2)
            values = torch.cat([self._values, values], dim=2)
        self._keys, self._values = keys, values
        return keys, values


def attend(
    projected: Tensor,
    heads: int,
    rotary: bool = True,
    mask: Tensor | None = None,
    memory: Memory | None = None,
) -> Tensor:
    """Attend with H heads: queries, keys and values (B, S, 3 * D) → (B, S, D).

    rotary: rotate queries and keys by their positions (Su et al. 2021), which makes attention
    relative. mask (B, S): false for padding, which is not attended to. memory: of the steps before.
    """
    batch, steps, width = projected.shape
    split = projected.view(batch, steps, 3, heads, -1)
    query, key, value = split.permute(2, 0, 3, 1, 4)  # each (B, H, S, D / H)
    if memory is not None:
        key, value = memory.join(key, value)
    if rotary:
        query, key = rotate(query, key.shape[2] - steps), rotate(key)
    if mask is None:
        attended = F.scaled_dot_product_attention(query, key, value)
    else:
        # Written out: for the few dozen steps of a word the fused kernel is slower on CPUs.
        scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
        weights = scores.masked_fill(~mask[:, None, None], -1e4).softmax(dim=-1)
        attended = weights.to(value.dtype) @ value
    return attended.transpose(1, 2).reshape(batch, steps, width // 3)


class TransformerLayer(nn.Module):
    """Layer norm → self-attention, layer norm → two projections with ReLU, both residual.

    rotary: use rotary position embeddings (Su et al. 2021), which are relative, so that a network
    trained on short windows works anywhere in a recording. Without them, positions must be added
    to the input.
    """

    def __init__(self, width: int, heads: int, inner: int, dropout: float, rotary: bool) -> None:
        super().__init__()
        self.heads = heads
        self.rotary = rotary
        self.attention_norm = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.inner_norm = nn.LayerNorm(width)
        self.inner = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, memory: Memory | None = None) -> Tensor:
        """Transform x (B, S, D) → (B, S, D). memory: of the steps before."""
        projected = self.query_key_value(self.attention_norm(x))
        attended = attend(projected, self.heads, self.rotary, memory=memory)
        x = x + self.dropout(self.attention_out(attended))
        return x + self.dropout(self.inner(self.inner_norm(x)))


KERNEL: Final = 7  # steps that the convolution sees
LOCAL_KERNEL: Final = 3  # the same, in a layer without attention


class ConformerLayer(nn.Module):
    """Half a feed-forward, self-attention, a convolution, another half feed-forward, all residual.

    Layer norm replaces batch norm in the convolution module, so that padding changes nothing.
    """

    def __init__(self, width: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.before = _feed_forward(width, inner, dropout)
        self.attention_norm = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.convolution_norm = nn.LayerNorm(width)
        self.gated = nn.Linear(width, 2 * width)
        self.convolution = nn.Conv1d(width, width, KERNEL, padding=KERNEL // 2, groups=width)
        self.inner_norm = nn.LayerNorm(width)
        self.convolution_out = nn.Linear(width, width)
        self.after = _feed_forward(width, inner, dropout)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Transform x (B, S, C) → (B, S, C); mask (B, S) is false for padding, which is not
        attended to.
        """
        x = x + 0.5 * self.before(x)
        projected = self.query_key_value(self.attention_norm(x))
        x = x + self.dropout(self.attention_out(attend(projected, self.heads, mask=mask)))
        x = x + self.dropout(self._convolve(self.convolution_norm(x), mask))
        x = x + 0.5 * self.after(x)
        return self.norm(x)

    def _convolve(self, x: Tensor, mask: Tensor) -> Tensor:
        gated = F.glu(self.gated(x), dim=-1) * mask[..., None]
        convolved = self.convolution(gated.transpose(1, 2)).transpose(1, 2)
        return self.convolution_out(F.silu(self.inner_norm(convolved)))


class LocalLayer(nn.Module):
    """A gated convolution and a feed-forward, both residual: a conformer layer without attention.

    Its output depends only on the steps within LOCAL_KERNEL // 2 of each step.
    """

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.gated = nn.Linear(width, 2 * width)
        self.convolution = nn.Conv1d(
            width, width, LOCAL_KERNEL, padding=LOCAL_KERNEL // 2, groups=width
        )
        self.inner_norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, width)
        self.feed = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, inner), nn.SiLU(), nn.Linear(inner, width)
        )

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Transform x (B, S, C) → (B, S, C); mask (B, S) is false for padding, which counts as
        zero.
        """
        gated = F.glu(self.gated(self.norm(x)), dim=-1) * mask[..., None]
        convolved = self.convolution(gated.transpose(1, 2)).transpose(1, 2)
        x = x + self.out(F.silu(self.inner_norm(convolved)))
        return x + self.feed(x)


def _feed_forward(width: int, inner: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(
        nn.LayerNorm(width),
        nn.Linear(width, inner),
        nn.SiLU(),
        nn.Dropout(dropout),
        nn.Linear(inner, width),
        nn.Dropout(dropout),
    )


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
