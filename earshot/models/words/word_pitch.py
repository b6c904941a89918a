"""The pitch of a word as an input of its acoustic view, with the log-mel frames.

Shapes: B batch, S frames of 10 ms, C width of the acoustic encoder.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

WINDOW: Final = 101  # frames: pitch is relative to its mean over 0.5 s to each side
SCALE: Final = 4.0  # of octaves: tones span about half an octave to each side
CHANNELS: Final = 64
STRIDE: Final = 4  # frames in a step
SPAN: Final = 12  # frames that a step sees


class PitchInput(nn.Module):
    """The input of pitch: log2 of F0 in Hz, 0 where there is no voice → what is added to the
    subsampled frames.

    The output begins at zero, so that a network that was trained without pitch stays what it was.
    """

    def __init__(self, width: int) -> None:
        """Make the layers. width: C."""
        super().__init__()
        self.contour = nn.Conv1d(2, CHANNELS, SPAN, STRIDE, padding=(SPAN - STRIDE) // 2)
        self.out = nn.Linear(CHANNELS, width)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, octaves: Tensor) -> Tensor:
        """Map pitch (B, S) to (B, S / 4, C), rounded up."""
        contour = F.pad(relative_pitch(octaves), (0, -octaves.shape[1] % STRIDE))
        return self.out(F.gelu(self.contour(contour)).transpose(1, 2))


def relative_pitch(octaves: Tensor) -> Tensor:
    """Map voicing, and pitch relative to that of its surroundings: (B, S) → (B, 2, S).

    A single word does not tell the mean of its speaker; its own mean comes nearest.
    """
    voiced = (octaves > 0).to(octaves.dtype)
    sums = [F.avg_pool1d(x[:, None], WINDOW, 1, WINDOW // 2)[:, 0] for x in (octaves, voiced)]
    mean = sums[0] / sums[1].clamp(min=1 / (2 * WINDOW))
    return torch.stack([voiced, SCALE * (octaves - mean) * voiced], dim=1)
