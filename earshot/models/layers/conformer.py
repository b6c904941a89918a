"""The conformer layer (Gulati et al. 2020) with rotary positions, and one without attention.

Shapes: B batch, S steps, C width, H heads.
"""

from typing import Final

from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers.attention import attend

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
