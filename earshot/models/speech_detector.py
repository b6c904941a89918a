"""Silero's voice activity detector: how probably each 32 ms of a recording are speech.

Silero Team (2024), https://github.com/snakers4/silero-vad, version 6, MIT licence.

Shapes: T samples at 16 kHz, N = ceil(T / 512) frames.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FRAME: Final = 512  # samples
CONTEXT: Final = 64  # samples before a frame that are seen with it
PAD: Final = 64  # samples after it, mirrored
WINDOW, HOP = 256, 128  # samples of the spectrum
BINS: Final = WINDOW // 2 + 1


class SpeechDetector(nn.Module):
    """A spectrum, four convolutions over each frame, and an LSTM over all frames."""

    def __init__(self) -> None:
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 2 * BINS, WINDOW, HOP, bias=False)
        self.conv1 = nn.Conv1d(BINS, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm = nn.LSTM(128, 128)
        self.final_conv = nn.Conv1d(128, 1, 1)

    @torch.inference_mode()
    def forward(self, waveform: Tensor) -> Tensor:
        """Return the probability of speech in each frame (N,) of a waveform (T,)."""
        padded = F.pad(waveform, (CONTEXT, -len(waveform) % FRAME))
        frames = padded.unfold(0, CONTEXT + FRAME, FRAME)[:, None]
        real, imaginary = self.stft_conv(F.pad(frames, (0, PAD), "reflect")).split(BINS, dim=1)
        states = (real**2 + imaginary**2).sqrt()
        for convolution in (self.conv1, self.conv2, self.conv3, self.conv4):
            states = convolution(states).relu()
        states, _ = self.lstm(states[..., 0])  # one state is left of each frame
        return self.final_conv(states.relu()[..., None])[:, 0, 0].sigmoid()
