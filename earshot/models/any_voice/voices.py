"""Voices that travel with a checkpoint."""

import torch
from torch import Tensor, nn


class VoiceTable(nn.Module):
    """Vectors (N, voice_width), and mean and standard deviation of log-F0 (N,), of N voices."""

    vector: Tensor
    pitch_mean: Tensor
    pitch_std: Tensor

    def __init__(self, n_voices: int, voice_width: int) -> None:
        super().__init__()
        self.register_buffer("vector", torch.zeros(n_voices, voice_width))
        self.register_buffer("pitch_mean", torch.zeros(n_voices))
        self.register_buffer("pitch_std", torch.ones(n_voices))
