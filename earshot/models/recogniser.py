"""The encoder of a pretrained recogniser, and its states on the time grid of the content.

The recogniser is Moonshine (Jeffries et al. 2024, arXiv:2410.15608): three convolutions on the
waveform, then Transformer layers with rotary positions, a state every 24 ms. The encoder is written
here, with the names of its weights in ``transformers``, because importing that library takes longer
than a conversion.

Shapes: B batch, T samples, N = T / 384 states, U = T / 320 steps of 20 ms, D width of a layer,
H heads, L layers taken.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.models.layers import Memory

STEP: Final = 320  # samples of a step
STATE: Final = 384  # samples of a state
BEFORE: Final = 448  # samples of silence before the speech; as many, and one state, after it
CENTRE: Final = 80  # sample of a step that is looked up among the states
ROTARY_BASE: Final = 10_000.0


@dataclass(frozen=True)
class EncoderConfig:
    """Sizes of the encoder; those of Moonshine tiny. rotary_share: of a head that is rotated."""

    width: int = 288
    inner: int = 1152
    layers: int = 6
    heads: int = 8
    rotary_share: float = 0.9


class Encoder(nn.Module):
    """The encoder of Moonshine: a waveform → the states of every layer."""

    def __init__(self, config: EncoderConfig = EncoderConfig()) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.conv1 = nn.Conv1d(1, width, 127, stride=64, bias=False)
        self.conv2 = nn.Conv1d(width, 2 * width, 7, stride=3)
        self.conv3 = nn.Conv1d(2 * width, width, 3, stride=2)
        self.groupnorm = nn.GroupNorm(1, width)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.layer_norm = nn.LayerNorm(width, bias=False)

    def forward(
        self,
        waveform: Tensor,
        norm: Callable[[Tensor], Tensor] | None = None,
        memories: Sequence[Memory | None] = (),
    ) -> list[Tensor]:
        """Map waveforms (B, T) to the outputs of the layers, each (B, N, D), the last one after the
        final norm.

        Where they are the latest of a stream: norm, in place of the group norm, whose statistics
        are of the whole; memories: of each layer.
        """
        x = (norm or self.groupnorm)(self.conv1(waveform[:, None]).tanh())
        x = F.gelu(self.conv3(F.gelu(self.conv2(x)))).transpose(1, 2)
        states = []
        for layer, memory in zip_longest(self.layers, memories):
            x = layer(x, memory)
            states.append(x)
        return [*states[:-1], self.layer_norm(x)]


class EncoderLayer(nn.Module):
    """Layer norm → self-attention, layer norm → two projections with GELU, both residual."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.input_layernorm = nn.LayerNorm(config.width, bias=False)
        self.self_attn = SelfAttention(config)
        self.post_attention_layernorm = nn.LayerNorm(config.width, bias=False)
        self.mlp = FeedForward(config)

    def forward(self, x: Tensor, memory: Memory | None = None) -> Tensor:
        """Transform x (B, N, D) → (B, N, D). memory: of the states before."""
        x = x + self.self_attn(self.input_layernorm(x), memory)
        return x + self.mlp(self.post_attention_layernorm(x))


class SelfAttention(nn.Module):
    """Multi-head self-attention; a share of each query and key is rotated (Su et al. 2021)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.rotated = int(config.width // config.heads * config.rotary_share)
        projections = (nn.Linear(config.width, config.width, bias=False) for _ in range(4))
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = projections

    def forward(self, x: Tensor, memory: Memory | None = None) -> Tensor:
        """Attend (B, N, D) → (B, N, D), and to the states before, of which memory is."""
        query, key, value = (
            projection(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        if memory is not None:
            key, value = memory.join(key, value)
        angles = self._angles(key)
        attended = F.scaled_dot_product_attention(
            self._rotate(query, angles[-x.shape[1] :]), self._rotate(key, angles), value
        )
        return self.o_proj(attended.transpose(1, 2).flatten(2))

    def _angles(self, key: Tensor) -> Tensor:
        """Compute the angle of the state of every key (B, H, N, D / H) at every frequency, in
        radians: (N, rotated / 2).
        """
        even = torch.arange(0, self.rotated, 2, device=key.device)
        places = torch.arange(key.shape[2], device=key.device)
        return places[:, None] * ROTARY_BASE ** (-even / self.rotated)

    def _rotate(self, x: Tensor, angles: Tensor) -> Tensor:
        """Rotate neighbouring pairs of the first numbers of queries or keys (B, H, N, D / H)."""
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        a, b = x[..., : self.rotated : 2], x[..., 1 : self.rotated : 2]
        pairs = torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1)
        return torch.cat([pairs.flatten(-2), x[..., self.rotated :]], dim=-1)


class FeedForward(nn.Module):
    """Two projections with GELU between them."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.fc1 = nn.Linear(config.width, config.inner)
        self.fc2 = nn.Linear(config.inner, config.width)

    def forward(self, x: Tensor) -> Tensor:
        """Transform x (B, N, D) → (B, N, D)."""
        return self.fc2(F.gelu(self.fc1(x)))


class LowRank(nn.Module):
    """A product of low rank for every matrix of the encoder's layers, to be added to it (LoRA: Hu
    et al. 2022). It begins as zeros.
    """

    def __init__(self, config: EncoderConfig, rank: int) -> None:
        super().__init__()
        width, inner = config.width, config.inner
        shapes = [*[(width, width)] * 4, (inner, width), (width, inner)] * config.layers
        self.up = nn.ParameterList(torch.zeros(rows, rank) for rows, _ in shapes)
        self.down = nn.ParameterList(torch.randn(rank, n) / n**0.5 for _, n in shapes)

    def sums(self, encoder: Encoder) -> dict[str, Tensor]:
        """Compute the matrices of an encoder's layers with the products, by their names in it."""
        weights = encoder.layers.named_parameters(prefix="layers")
        matrices = [(name, weight) for name, weight in weights if weight.ndim == 2]
        products = zip(matrices, self.up, self.down, strict=True)
        return {name: weight + up @ down for (name, weight), up, down in products}

    def folded_into(self, recogniser: "RecogniserStates") -> "RecogniserStates":
        """Copy a recogniser, of which others may have use, with the products added."""
        folded = copy.deepcopy(recogniser)
        folded.encoder.load_state_dict(self.sums(recogniser.encoder), strict=False)
        return folded


class RecogniserStates(nn.Module):
    """Frozen layers of the encoder, side by side, interpolated to a step every 20 ms."""

    def __init__(self, encoder: Encoder, layers: Sequence[int]) -> None:
        """Take the outputs of some layers, numbered from 1."""
        super().__init__()
        self.encoder = encoder.eval().requires_grad_(False)
        self.layers = tuple(layers)
        self.width = len(self.layers) * encoder.config.width

    @torch.no_grad()
    def forward(self, waveform: Tensor, rate: float = 1.0, steps: int | None = None) -> Tensor:
        """Compute the states (B, U, L * D) of waveforms (B, T) of 16 kHz, U = T / 320.

        rate: how many times as fast as the grid's speech the waveform is. Its states are put where
        their sound is in the speech itself, and ``steps`` are those of the speech.
        """
        states = self.own(F.pad(waveform, (BEFORE, BEFORE + STATE)))
        return at_steps(states, steps or round(waveform.shape[1] * rate / STEP), rate)

    @torch.no_grad()
    def own(
        self,
        waveform: Tensor,
        norm: Callable[[Tensor], Tensor] | None = None,
        memories: Sequence[Memory | None] = (),
    ) -> Tensor:
        """Compute the encoder's own states (B, N, L * D) of waveforms (B, T), one every 24 ms; of a
        stream by what the encoder takes of one.
        """
        outputs = self.encoder(waveform, norm, memories)
        return torch.cat([outputs[layer - 1].float() for layer in self.layers], dim=-1)


def at_steps(states: Tensor, steps: int, rate: float = 1.0, after: int = 0) -> Tensor:
    """Interpolate states (B, N, D), one every 24 ms, at steps of 20 ms: (B, steps, D). after:
    samples from the first state to where the first step begins.
    """
    place = (torch.arange(steps, device=states.device) * STEP + CENTRE + after) / (rate * STATE)
    place = place.clamp(max=states.shape[1] - 1.001)
    left = place.floor().long()
    weight = (place - left)[None, :, None]
    return states[:, left] * (1 - weight) + states[:, left + 1] * weight
