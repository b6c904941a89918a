"""A pretrained encoder of speech, frozen: the states of some of its layers, at equal times.

One loader for every encoder of ``transformers`` that reads waveforms: HuBERT, WavLM, wav2vec 2.0,
and the encoder of the recogniser Moonshine; from a folder, the hub or its cache, or the wheel.
"""

import re
from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np
import torch
from torch import nn
from transformers import AutoFeatureExtractor, AutoModel

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.pretrained.accelerator import choose_device
from earshot.pretrained.hub import load_model, precision
from earshot.pretrained.recogniser import load_encoder

RECOGNISER: Final = "moonshine-tiny"  # the name of the encoder that is installed with the app
KINDS: Final = ("hubert", "wavlm", "wav2vec2", "moonshine")  # model types of transformers
MIN_SECONDS: Final = 0.1  # less is fewer samples than the convolutions take: zeros are added
STEP: Final = 2 * HOP_LENGTH  # samples between two states of the grid: 20 ms
LAYERS: Final = re.compile(r"\d+( *, *\d+)*")


class SpeechEncoder:
    """Layers of a speech encoder. Shapes: T samples at 16 kHz, S states, D width of the layers that
    were chosen, one after the other."""

    def __init__(
        self, identifier: str, encoder: nn.Module, layers: Sequence[int], normalized: bool
    ) -> None:
        """Keep the encoder. layers: of the Transformer, from 1; normalized: whether the model was
        trained on waveforms of mean 0 and variance 1.
        """
        self.identifier, self.layers = identifier, tuple(layers)
        self._encoder, self._normalized = encoder, normalized
        config: Any = encoder.config
        self.width: int = config.hidden_size * len(self.layers)
        kernels, strides = _convolutions(encoder)
        self.hop = prod(strides)  # samples between two states
        reach = 1  # samples that a state of the convolutions sees
        for kernel, stride in zip(reversed(kernels), reversed(strides), strict=True):
            reach = (reach - 1) * stride + kernel
        self._first = reach / 2  # the centre of the first state

    @classmethod
    def from_pretrained(cls, name: str, device: str = "auto") -> "SpeechEncoder":
        """Load "ID", "ID:LAYER" or "ID:LAYER,LAYER" ("facebook/hubert-base-ls960:9"); ID is a
        folder, a hub id, or "moonshine-tiny", the recogniser that is installed with the app.
        Without a layer, the one at three quarters of the depth.

        Raises FileNotFoundError where there is no such model, and InputError for a model of another
        kind or a layer that it has not.
        """
        identifier, _, layers = name.partition(":")
        place = choose_device(device, large=True)
        if identifier == RECOGNISER:
            return cls(identifier, nn.Module.to(load_encoder().eval(), place), (), False).at(layers)
        model = (
            load_model(AutoModel, identifier, dtype=precision(place)).eval().requires_grad_(False)
        )
        if model.config.model_type not in KINDS:
            raise InputError(f"{identifier} is no HuBERT, WavLM, wav2vec 2.0 or Moonshine.")
        encoder = model.get_encoder() if model.config.is_encoder_decoder else model
        extractor = load_model(AutoFeatureExtractor, identifier)
        nn.Module.to(encoder, place)
        return cls(identifier, encoder, (), extractor.do_normalize).at(layers)

    def at(self, layers: str) -> "SpeechEncoder":
        """Take the same model at other layers: "9", "3, 6", or "" for the one at three quarters of
        the depth.

        Raises InputError for a layer that it has not.
        """
        depth = self._depth
        layers = layers.strip() or str(max(1, round(0.75 * depth)))
        numbers = [int(n) for n in layers.split(",")] if LAYERS.fullmatch(layers) else [0]
        if not all(1 <= layer <= depth for layer in numbers):
            raise InputError(f"{self.identifier} has layers 1 to {depth}, and no layer {layers}.")
        return SpeechEncoder(self.identifier, self._encoder, numbers, self._normalized)

    @property
    def name(self) -> str:
        """Write ID:LAYER or ID:LAYER,LAYER, for from_pretrained."""
        return f"{self.identifier}:{','.join(map(str, self.layers))}"

    @torch.inference_mode()
    def states(self, waveform: np.ndarray) -> np.ndarray:
        """Compute the model's own states (S, D) of speech (T,), float32, one every ``hop``
        samples.
        """
        cancellation.check()
        missing = max(0, round(MIN_SECONDS * SAMPLE_RATE) - len(waveform))
        padded = torch.from_numpy(np.pad(waveform, (missing // 2, missing - missing // 2)))
        if self._normalized:
            padded = (padded - padded.mean()) / torch.sqrt(padded.var(correction=0) + 1e-7)
        weight = next(self._encoder.parameters())
        states = self._encoder(padded[None].to(weight), output_hidden_states=True).hidden_states
        chosen = torch.cat([states[layer][0] for layer in self.layers], dim=-1)
        return chosen.float().cpu().numpy()

    def on_grid(self, waveform: np.ndarray) -> np.ndarray:
        """Compute a state for every STEP samples of speech (T,), (T // STEP, D): the model's state
        whose centre is nearest.
        """
        states = self.states(waveform)
        centres = (np.arange(len(waveform) // STEP) + 0.5) * STEP
        nearest = np.rint((centres - self._first) / self.hop).astype(int)
        return states[nearest.clip(0, len(states) - 1)]

    @property
    def _depth(self) -> int:
        config: Any = self._encoder.config
        return getattr(config, "encoder_num_hidden_layers", None) or config.num_hidden_layers


def _convolutions(encoder: nn.Module) -> tuple[list[int], list[int]]:
    """List kernels and strides of the convolutions that read the waveform, in their order."""
    config: Any = encoder.config
    if hasattr(config, "conv_kernel"):
        return list(config.conv_kernel), list(config.conv_stride)
    layers = [module for module in encoder.children() if isinstance(module, nn.Conv1d)]
    return [layer.kernel_size[0] for layer in layers], [layer.stride[0] for layer in layers]
