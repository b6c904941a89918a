"""Decoders of speech frames: all frames at once, or one after the other.

Shapes: B batch, N encoder states, S mel frames, C width, M mel bands; an output frame is M bands, a
voicing logit and the log-F0 contour.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers.conformer import ConformerLayer

GROUP: Final = 2  # frames per decoding step
PRENET_DROPOUT: Final = 0.5  # in training: without it, the decoder ignores the encoder states


class ParallelDecoder(nn.Module):
    """States interpolated to the mel frame rate, then conformer layers."""

    LAYERS: Final = 2

    def __init__(self, width: int, heads: int, inner: int, n_mels: int, dropout: float) -> None:
        super().__init__()
        self.phase = nn.Linear(2, width)
        self.layers = nn.ModuleList(
            ConformerLayer(width, heads, inner, dropout) for _ in range(self.LAYERS)
        )
        self.out = nn.Linear(width, n_mels + 2)

    def forward(self, states: Tensor, frames: int) -> Tensor:
        """Map states (B, N, C) to (B, S, M + 2), for any N and S."""
        x = F.interpolate(states.transpose(1, 2), size=frames, mode="linear").transpose(1, 2)
        # The position of a mel frame between two states.
        phase = torch.arange(frames, device=x.device) * (states.shape[1] / frames) * 2 * torch.pi
        x = x + self.phase(torch.stack([phase.sin(), phase.cos()], dim=-1).to(x.dtype))
        mask = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        for layer in self.layers:
            x = layer(x, mask)
        return self.out(x)


class AutoregressiveDecoder(nn.Module):
    """A decoder of GROUP frames per step, from the previous frames and from attention over the
    states.

    Attention is by content, with a Gaussian bias towards the states of the same moment whose width
    is learned: N and S need not match.
    """

    def __init__(self, width: int, heads: int, inner: int, n_mels: int) -> None:
        super().__init__()
        self.n_mels = n_mels
        self.prenet = nn.Sequential(nn.Linear(n_mels, 128), nn.ReLU())
        self.second_prenet = nn.Sequential(nn.Linear(128, 128), nn.ReLU())
        self.memory = nn.GRUCell(128 + width, inner)
        self.query = nn.Linear(inner, width)
        self.key = nn.Linear(width, width)
        self.log_std = nn.Parameter(torch.tensor(0.7))  # log width of the attention bias, in states
        self.out = nn.Linear(inner + width, GROUP * (n_mels + 2))

    def forward(self, states: Tensor, frames: int, teacher: Tensor | None) -> Tensor:
        """Map states (B, N, C) to (B, S, M + 2); teacher (B, S, M): frames to condition on, else
        its own.
        """
        batch, count, width = states.shape
        keys = self.key(states)
        positions = torch.arange(count, device=states.device)
        memory = states.new_zeros(batch, self.memory.hidden_size)
        context = states[:, 0]
        last = states.new_zeros(batch, self.n_mels)
        predicted: list[Tensor] = []
        for first in range(0, frames, GROUP):
            x = F.dropout(self.prenet(last), PRENET_DROPOUT, self.training)
            x = F.dropout(self.second_prenet(x), PRENET_DROPOUT, self.training)
            memory = self.memory(torch.cat([x, context], dim=-1), memory).to(states.dtype)
            distance = (positions - first * count / frames) / self.log_std.exp()
            scores = (keys @ self.query(memory)[..., None])[..., 0] * width**-0.5
            weights = (scores - 0.5 * distance.square()).softmax(dim=-1).to(states.dtype)
            context = (weights[:, None] @ states)[:, 0]
            group = self.out(torch.cat([memory, context], dim=-1))
            predicted.append(group.view(batch, GROUP, self.n_mels + 2))
            last = predicted[-1][:, -1, : self.n_mels]
            if teacher is not None:
                last = teacher[:, min(first + GROUP, frames) - 1].to(states.dtype)
        return torch.cat(predicted, dim=1)[:, :frames]
