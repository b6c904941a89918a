"""A small speaker encoder for evaluation: is a conversion nearer to source or target?

Trained only on original recordings of the training splits, to tell their speakers apart.
Shapes: B batch, S frames of 10 ms, D embedding size.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.judges.frontend import N_BANDS, LogMel, pad


class SpeakerEncoder(nn.Module):
    """Dilated convolutions, then mean and standard deviation over time, then a unit vector."""

    def __init__(self, width: int = 160, size: int = 96, dropout: float = 0.1) -> None:
        super().__init__()
        self.width, self.size = width, size
        self.log_mel = LogMel()
        self.entry = nn.Conv1d(N_BANDS, width, 5, stride=2, padding=2)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm1d(width),
                nn.ReLU(),
                nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation),
            )
            for dilation in (1, 2, 3)
        )
        self.norm = nn.BatchNorm1d(width)
        self.exit = nn.Sequential(nn.Dropout(dropout), nn.Linear(2 * width, size))

    def forward(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Map log-mel features (B, S, 40), frames (B,) to unit vectors (B, D)."""
        inside = torch.arange(features.shape[1]) < lengths[:, None]
        x = self.entry((features * inside[..., None]).transpose(1, 2))
        steps = (lengths + 1) // 2
        mask = (torch.arange(x.shape[2]) < steps[:, None]).to(x.dtype)[:, None]
        for block in self.blocks:
            x = x + block(x * mask)
        x = F.relu(self.norm(x * mask)).float() * mask
        count = steps[:, None].clamp(min=1)
        mean = x.sum(2) / count
        std = (x.square().sum(2) / count - mean.square()).clamp(min=1e-6).sqrt()
        return F.normalize(self.exit(torch.cat([mean, std], 1)).float(), dim=1)

    @torch.inference_mode()
    def embed(self, waveforms: list[np.ndarray]) -> np.ndarray:
        """Embed waveforms (T,) at 16 kHz, of any lengths and levels, as unit vectors (N, D)."""
        vectors = []
        for first in range(0, len(waveforms), 16):
            batch, lengths = pad([_at_level(w) for w in waveforms[first : first + 16]])
            vectors.append(self(scale(self.log_mel(batch)), lengths).numpy())
        return np.concatenate(vectors)


def scale(log_mel: Tensor) -> Tensor:
    """Bring log-mel energies of speech at power 0.01 near zero mean and unit variance."""
    return (log_mel + 5.0) / 4.0


def nearer_to_target(converted: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Say which conversions (N, D) have a greater cosine to their target's mean vector than to
    their source's, given those vectors (N, D) for each: bool (N,)."""
    return (converted * _unit(target)).sum(1) > (converted * _unit(source)).sum(1)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _at_level(waveform: np.ndarray) -> np.ndarray:
    power = float(np.sqrt(np.mean(waveform**2)))
    return waveform * np.float32(0.1 / max(power, 1e-5))
