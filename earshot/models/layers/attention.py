"""Multi-head self-attention (Vaswani et al. 2017). Shapes: B batch, S steps, D width, H heads."""

from torch import Tensor
from torch.nn import functional as F

from earshot.models.layers.positions import rotate


def attend(
    projected: Tensor, heads: int, rotary: bool = True, mask: Tensor | None = None
) -> Tensor:
    """Attend with H heads: queries, keys and values (B, S, 3 * D) → (B, S, D).

    rotary: rotate queries and keys by their positions (Su et al. 2021), which makes attention
    relative. mask (B, S): false for padding, which is not attended to.
    """
    batch, steps, width = projected.shape
    split = projected.view(batch, steps, 3, heads, -1)
    query, key, value = split.permute(2, 0, 3, 1, 4)  # each (B, H, S, D / H)
    if rotary:
        query, key = rotate(query), rotate(key)
    if mask is None:
        attended = F.scaled_dot_product_attention(query, key, value)
    else:
        # Written out: for the few dozen steps of a word the fused kernel is slower on CPUs.
        scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
        weights = scores.masked_fill(~mask[:, None, None], -1e4).softmax(dim=-1)
        attended = weights.to(value.dtype) @ value
    return attended.transpose(1, 2).reshape(batch, steps, width // 3)
