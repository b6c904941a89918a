"""The Transformer layer of Tjandra et al. 2020 (section 2), with rotary positions where asked.

Shapes: B batch, S frames, D model width, H heads.
"""

from torch import Tensor, nn

from earshot.models.layers.attention import attend


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
        """Transform x (B, S, D) → (B, S, D)."""
        projected = self.query_key_value(self.attention_norm(x))
        x = x + self.dropout(self.attention_out(attend(projected, self.heads, self.rotary)))
        return x + self.dropout(self.inner(self.inner_norm(x)))
