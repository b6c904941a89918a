"""States of a pretrained recogniser on the time grid of the content.

The recogniser is the encoder of Moonshine (Jeffries et al. 2024, arXiv:2410.15608) as transformers
has it: three convolutions on the waveform, then Transformer layers, a state every 24 ms.

Shapes: B batch, T samples, U = T / 320 steps of 20 ms, D width of a layer, L layers taken.
"""

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

STEP: Final = 320  # samples of a step
STATE: Final = 384  # samples of a state
BEFORE: Final = 448  # samples of silence before the speech; as many, and one state, after it
CENTRE: Final = 80  # sample of a step that is looked up among the states


class RecogniserStates(nn.Module):
    """Frozen layers of the encoder, side by side, interpolated to a step every 20 ms."""

    def __init__(self, encoder: Any, layers: Sequence[int]) -> None:
        """Take the outputs of some layers of a MoonshineEncoder.

        layers: numbers from 1; the last one is taken after the final norm.
        """
        super().__init__()
        self.encoder = encoder.eval().requires_grad_(False)
        self.layers = tuple(layers)
        self.width = len(self.layers) * encoder.config.hidden_size

    @torch.no_grad()
    def forward(self, waveform: Tensor, rate: float = 1.0, steps: int | None = None) -> Tensor:
        """Compute the states (B, U, L * D) of waveforms (B, T) of 16 kHz, U = T / 320.

        rate: how many times as fast as the grid's speech the waveform is. Its states are put where
        their sound is in the speech itself, and ``steps`` are those of the speech.
        """
        # Collected for this call alone: a hook of ours would hear those of other threads, too.
        heard = self.encoder(
            F.pad(waveform, (BEFORE, BEFORE + STATE)), output_hidden_states=True
        ).hidden_states
        states = torch.cat([heard[n].float() for n in self.layers], dim=-1)
        return at_steps(states, steps or round(waveform.shape[1] * rate / STEP), rate)


def at_steps(states: Tensor, steps: int, rate: float = 1.0) -> Tensor:
    """Interpolate states (B, N, D), one every 24 ms, at steps of 20 ms: (B, steps, D)."""
    place = (torch.arange(steps, device=states.device) * STEP + CENTRE) / (rate * STATE)
    place = place.clamp(max=states.shape[1] - 1.001)
    left = place.floor().long()
    weight = (place - left)[None, :, None]
    return states[:, left] * (1 - weight) + states[:, left + 1] * weight
