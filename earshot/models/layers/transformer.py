"""The Transformer layer of Tjandra et al. 2020 (section 2), with rotary positions where asked.

Shapes: B batch, S frames, D model width, H heads.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


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

    def forward(self, x: Tensor) -> Tensor:
        """(B, S, D) → (B, S, D)."""
        x = x + self.dropout(self._attend(self.attention_norm(x)))
        return x + self.dropout(self.inner(self.inner_norm(x)))

    def _attend(self, x: Tensor) -> Tensor:
        batch, frames, width = x.shape
        projected = self.query_key_value(x).view(batch, frames, 3, self.heads, -1)
        query, key, value = projected.permute(2, 0, 3, 1, 4)  # each (B, H, S, D / H)
        if self.rotary:
            query, key = rotate(query), rotate(key)
        attended = F.scaled_dot_product_attention(query, key, value)
        return self.attention_out(attended.transpose(1, 2).reshape(batch, frames, width))


def sinusoidal_positions(
    frames: int, width: int, device: torch.device, base: float = 10_000.0
) -> Tensor:
    """Sine and cosine position vectors (Vaswani et al. 2017): (frames, width)."""
    angles = _angles(frames, width, device, base)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def rotate(x: Tensor) -> Tensor:
    """Rotary position embedding of queries or keys: (…, S, D / H) → the same (Su et al. 2021)."""
    angles = _angles(x.shape[-2], x.shape[-1], x.device)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def _angles(frames: int, width: int, device: torch.device, base: float = 10_000.0) -> Tensor:
    """Angle of every frame at every frequency, in radians: (frames, width / 2)."""
    rates = base ** (-torch.arange(0, width, 2, device=device) / width)
    return torch.arange(frames, device=device)[:, None] * rates
