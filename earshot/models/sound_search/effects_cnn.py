"""The network of aiSFX, a pretrained encoder of sound effects, and its classifiers of categories
(Ma and Lerch, Representation Learning for the Automatic Indexing of Sound Effects Libraries, ISMIR
2022; the convolutions are those of Kong et al. 2018, DCASE baseline systems).

Shapes: B sounds, S frames of 23 ms, M mel bands, S' steps of eight frames, C = 512 channels, N
blocks, O outputs of all classifiers.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

CHANNELS: Final = (64, 128, 256, 512)
# The classifiers of categories of sound effects: of which training library, outputs. Others that
# the file holds are of libraries with categories of their own.
CLASSIFIERS: Final = {"prosfx": 78, "soundlyTrain": 79, "ucsMixed": 69}
N_OUTPUTS: Final = sum(CLASSIFIERS.values())
STEP: Final = 8  # frames
BLOCK: Final = 12  # steps, 2.2 s: what a classifier heard at once in training
BLOCK_HOP: Final = 6  # steps from block to block, at most


class EffectsCNN(nn.Module):
    """Four blocks of two convolutions each, and a classifier for each library. Batch normalisation
    is part of the convolutions.
    """

    def __init__(self) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList()
        before = 1
        for channels in CHANNELS:
            for first in (before, channels):
                self.convolutions.append(nn.Conv2d(first, channels, 3, padding=1))
            before = channels
        self.classifiers = nn.ModuleList(_classifier(n) for n in CLASSIFIERS.values())
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # fast on CPUs

    def forward(self, mel: Tensor) -> Tensor:
        """Map spectrograms (B, S, M) to steps (B, S', C), of which there is at least one."""
        short = max(STEP - mel.shape[1], 0)
        image = F.pad(mel, (0, 0, 0, short))[:, None]
        x = image.contiguous(memory_format=torch.channels_last)
        for number, convolution in enumerate(self.convolutions):
            x = F.relu_(convolution(x))
            if number in (1, 3, 5):
                x = F.max_pool2d(x, 2)
        return x.mean(dim=3).transpose(1, 2)

    def classify(self, blocks: Tensor) -> Tensor:
        """Map blocks (…, C) to the probabilities of each classifier, one after the other: (…,
        O)."""
        return torch.cat([c(blocks).float().softmax(dim=-1) for c in self.classifiers], dim=-1)


def blocks_of(steps: Tensor) -> Tensor:
    """Take the maximum over each block of BLOCK steps: (B, S', C) → (B, N, C). The blocks are
    evenly spaced and cover everything; a shorter sound is one block.
    """
    last = max(steps.shape[1] - BLOCK, 0)
    count = -(-last // BLOCK_HOP) + 1
    starts = torch.linspace(0, last, count).round().long().tolist()
    return torch.stack([steps[:, a : a + BLOCK].amax(dim=1) for a in starts], dim=1)


def blocks_around(steps: Tensor, places: list[float]) -> Tensor:
    """Take the maximum over the block around each place, in steps: (B, S', C) → (B, places, C)."""
    last = max(steps.shape[1] - BLOCK, 0)
    starts = [min(max(round(place - BLOCK / 2), 0), last) for place in places]
    return torch.stack([steps[:, a : a + BLOCK].amax(dim=1) for a in starts], dim=1)


def _classifier(outputs: int) -> nn.Sequential:
    width = CHANNELS[-1]
    return nn.Sequential(
        nn.Linear(width, width // 2),
        nn.ReLU(),
        nn.Linear(width // 2, width // 4),
        nn.ReLU(),
        nn.Linear(width // 4, outputs),
    )
