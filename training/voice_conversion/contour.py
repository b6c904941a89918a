"""The pitch contour that inverters are trained with.

Shapes: B batch, S frames.
"""

import torch
from torch import Tensor


def relative_contour(pitch: Tensor, mean: Tensor) -> Tensor:
    """Compute the log-F0 contour relative to the voice's mean: (B, S, 2), voicing and log-F0, 0 if
    unvoiced.

    pitch: (B, S) in Hz, 0 where unvoiced; mean: (B,), of log-F0.
    """
    voiced = pitch > 0
    relative = torch.where(voiced, pitch.clamp(min=1).log() - mean[:, None], 0.0)
    return torch.stack([voiced.float(), relative], dim=-1)
