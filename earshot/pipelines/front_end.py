"""A frozen layer of a pretrained speech model: speech → frames, instead of MFCC or log-mel."""

from math import prod
from typing import Any, Final

import numpy as np
import torch
from transformers import AutoFeatureExtractor, AutoModel

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.pipelines.accelerator import choose_device
from earshot.pipelines.hub_models import load, precision

KINDS: Final = ("hubert", "wavlm", "wav2vec2")  # model types of transformers
SHORTEST: Final = 0.1  # seconds: less is fewer frames than the convolutions take
HOPS: Final = 2  # of 10 ms, between two frames


class FrontEnd:
    """One layer of HuBERT, WavLM or wav2vec 2.0. Shapes: T samples at 16 kHz, S frames, D width."""

    def __init__(
        self, identifier: str, model: torch.nn.Module, layer: int, normalized: bool
    ) -> None:
        """layer: of the Transformer, from 1; normalized: whether the model was trained on waveforms
        of mean 0 and variance 1."""
        self.identifier, self.layer = identifier, layer
        self._model, self._normalized = model, normalized
        config: Any = model.config
        self.width: int = config.hidden_size
        self._hop = prod(config.conv_stride)  # samples
        reach = 1  # samples that a frame of the convolutions sees
        for kernel, stride in zip(
            reversed(config.conv_kernel), reversed(config.conv_stride), strict=True
        ):
            reach = (reach - 1) * stride + kernel
        self._first = reach / 2  # the centre of the first frame

    @classmethod
    def from_pretrained(cls, name: str, device: str = "auto") -> "FrontEnd":
        """Load "ID" or "ID:LAYER" ("facebook/hubert-base-ls960:9"); ID is a folder or a hub id.
        Without a layer, the one at three quarters of the depth.

        Raises FileNotFoundError where there is no such model, and InputError for a model of another
        kind or a layer that it has not.
        """
        identifier, _, wanted = name.partition(":")
        place = choose_device(device, large=True)
        model = load(AutoModel, identifier, dtype=precision(place)).eval().requires_grad_(False)
        if model.config.model_type not in KINDS:
            raise InputError(f"{identifier} is no HuBERT, WavLM or wav2vec 2.0.")
        extractor = load(AutoFeatureExtractor, identifier)
        torch.nn.Module.to(model, place)
        return cls(identifier, model, 0, extractor.do_normalize).at(wanted or None)

    def at(self, layer: int | str | None) -> "FrontEnd":
        """The same model at another layer; None: the one at three quarters of the depth.

        Raises InputError for a layer that it has not.
        """
        config: Any = self._model.config
        depth: int = config.num_hidden_layers
        layer = str(layer or max(1, round(0.75 * depth)))
        if not layer.isdecimal() or not 1 <= int(layer) <= depth:
            raise InputError(f"{self.identifier} has layers 1 to {depth}, and no layer {layer}.")
        return FrontEnd(self.identifier, self._model, int(layer), self._normalized)

    @property
    def name(self) -> str:
        """ID:LAYER, for from_pretrained."""
        return f"{self.identifier}:{self.layer}"

    @torch.inference_mode()
    def frames(self, waveform: np.ndarray) -> np.ndarray:
        """Speech (T,) → the model's own frames (S, D), float32."""
        cancellation.check()
        missing = max(0, round(SHORTEST * SAMPLE_RATE) - len(waveform))
        padded = torch.from_numpy(np.pad(waveform, (missing // 2, missing - missing // 2)))
        if self._normalized:
            padded = (padded - padded.mean()) / torch.sqrt(padded.var(correction=0) + 1e-7)
        weight = next(self._model.parameters())
        states = self._model(padded[None].to(weight), output_hidden_states=True).hidden_states
        return states[self.layer][0].float().cpu().numpy()

    def aligned(self, waveform: np.ndarray) -> np.ndarray:
        """Speech (T,) → a frame for every HOPS hops of 10 ms, (T // (HOPS * HOP_LENGTH), D): the
        model's frame whose centre is nearest."""
        step = HOPS * HOP_LENGTH
        frames = self.frames(waveform)
        centres = (np.arange(len(waveform) // step) + 0.5) * step
        nearest = np.rint((centres - self._first) / self._hop).astype(int)
        return frames[nearest.clip(0, len(frames) - 1)]
