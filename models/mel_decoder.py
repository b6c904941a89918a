"""Speech frames out of states: all at once, or one after the other.

Shapes: B batch, F states, S mel frames, C width, M mel bands; a frame is M bands, a logit of
voicing and the melody.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.conformer import ConformerLayer

GROUP: Final = 2  # frames that the decoder draws in one step
DROPPED: Final = 0.5  # of what it hears of itself, in training: else it listens to nothing else


class ParallelDecoder(nn.Module):
    """States spread over the frames, and conformer layers at the rate of frames."""

    LAYERS: Final = 2

    def __init__(self, width: int, heads: int, inner: int, n_mels: int, dropout: float) -> None:
        super().__init__()
        self.place = nn.Linear(2, width)
        self.layers = nn.ModuleList(
            ConformerLayer(width, heads, inner, dropout) for _ in range(self.LAYERS)
        )
        self.out = nn.Linear(width, n_mels + 2)

    def forward(self, states: Tensor, frames: int) -> Tensor:
        """(B, F, C) → (B, S, M + 2), whatever F and S are."""
        x = F.interpolate(states.transpose(1, 2), size=frames, mode="linear").transpose(1, 2)
        # Where a frame is between two states.
        phase = torch.arange(frames, device=x.device) * (states.shape[1] / frames) * 2 * torch.pi
        x = x + self.place(torch.stack([phase.sin(), phase.cos()], dim=-1).to(x.dtype))
        real = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        for layer in self.layers:
            x = layer(x, real)
        return self.out(x)


class AutoregressiveDecoder(nn.Module):
    """GROUP frames a step, from those before and from states that attention chooses.

    Attention is by content, and prefers the states of the same moment, by a Gaussian whose width
    is learned: the number of states and frames need not match.
    """

    def __init__(self, width: int, heads: int, inner: int, n_mels: int) -> None:
        super().__init__()
        self.n_mels = n_mels
        self.heard = nn.Sequential(nn.Linear(n_mels, 128), nn.ReLU())
        self.heard_again = nn.Sequential(nn.Linear(128, 128), nn.ReLU())
        self.memory = nn.GRUCell(128 + width, inner)
        self.query = nn.Linear(inner, width)
        self.key = nn.Linear(width, width)
        self.log_reach = nn.Parameter(torch.tensor(0.7))  # states that attention sees, a deviation
        self.out = nn.Linear(inner + width, GROUP * (n_mels + 2))

    def forward(self, states: Tensor, frames: int, said: Tensor | None) -> Tensor:
        """(B, F, C) → (B, S, M + 2); said (B, S, M): the frames to go on from, else its own."""
        batch, count, width = states.shape
        keys = self.key(states)
        moments = torch.arange(count, device=states.device)
        memory = states.new_zeros(batch, self.memory.hidden_size)
        context = states[:, 0]
        last = states.new_zeros(batch, self.n_mels)
        drawn: list[Tensor] = []
        for first in range(0, frames, GROUP):
            heard = F.dropout(self.heard(last), DROPPED, self.training)
            heard = F.dropout(self.heard_again(heard), DROPPED, self.training)
            memory = self.memory(torch.cat([heard, context], dim=-1), memory).to(states.dtype)
            away = (moments - first * count / frames) / self.log_reach.exp()
            scores = (keys @ self.query(memory)[..., None])[..., 0] * width**-0.5
            weights = (scores - 0.5 * away.square()).softmax(dim=-1).to(states.dtype)
            context = (weights[:, None] @ states)[:, 0]
            group = self.out(torch.cat([memory, context], dim=-1))
            drawn.append(group.view(batch, GROUP, self.n_mels + 2))
            last = drawn[-1][:, -1, : self.n_mels]
            if said is not None:
                last = said[:, min(first + GROUP, frames) - 1].to(states.dtype)
        return torch.cat(drawn, dim=1)[:, :frames]
