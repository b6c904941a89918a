"""A pretrained speech model as the acoustic view: the mean over a word of one layer's frames.

Sanabria, Tang and Goldwater (2022), arXiv:2210.16043: without any training, such vectors of HuBERT
are as good as trained acoustic word embeddings, across languages.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from torch.nn.functional import normalize
from transformers import AutoFeatureExtractor, AutoModel

from media import cancellation
from media.constants import SAMPLE_RATE
from media.errors import InputError
from pipelines.accelerator import choose_device
from pipelines.hub_models import load, precision

KINDS: Final = ("hubert", "wavlm", "wav2vec2")  # model types of transformers
SHORTEST: Final = 0.1  # seconds: less is fewer frames than the convolutions take


class SpeechModelView:
    """HuBERT, WavLM or wav2vec 2.0, frozen. It has no written view."""

    def __init__(self, name: str, model: torch.nn.Module, layer: int, normalized: bool) -> None:
        """layer: of the Transformer, from 1; normalized: whether the model was trained on waveforms
        of mean 0 and variance 1."""
        self.name, self.layer = name, layer
        self._model, self._normalized = model, normalized

    @classmethod
    def from_pretrained(cls, name: str, device: str = "auto") -> "SpeechModelView":
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
        view = cls(identifier, model, 0, extractor.do_normalize)
        return view.at(wanted or None)

    def at(self, layer: int | str | None) -> "SpeechModelView":
        """The same model at another layer; None: the one at three quarters of the depth.

        Raises InputError for a layer that it has not.
        """
        config: Any = self._model.config
        depth: int = config.num_hidden_layers
        layer = str(layer or max(1, round(0.75 * depth)))
        identifier = self.name.rpartition(", layer ")[0] or self.name
        if not layer.isdecimal() or not 1 <= int(layer) <= depth:
            raise InputError(f"{identifier} has layers 1 to {depth}, and no layer {layer}.")
        name = f"{identifier}, layer {layer}"
        return SpeechModelView(name, self._model, int(layer), self._normalized)

    @torch.inference_mode()
    def embed_waveforms(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Words at 16 kHz, (T,) float32 each, trimmed to the word → unit vectors (N, D).

        One at a time: padding changes what some of these models make of a recording.
        """
        return np.stack([self._embed(waveform) for waveform in waveforms])

    def _embed(self, waveform: np.ndarray) -> np.ndarray:
        cancellation.check()
        missing = max(0, round(SHORTEST * SAMPLE_RATE) - len(waveform))
        padded = torch.from_numpy(np.pad(waveform, (missing // 2, missing - missing // 2)))
        if self._normalized:
            padded = (padded - padded.mean()) / torch.sqrt(padded.var(correction=0) + 1e-7)
        weight = next(self._model.parameters())
        states = self._model(padded[None].to(weight), output_hidden_states=True).hidden_states
        return normalize(states[self.layer][0].float().mean(dim=0), dim=0).cpu().numpy()


def nearest_is_same_word(
    vectors: np.ndarray, spellings: Sequence[str], voices: Sequence[str]
) -> float:
    """Of the recordings whose word another voice says too, the share whose nearest recording by
    another voice is that word: unit vectors (N, D) → 0 to 1, NaN where there is none."""
    words, speakers = np.array(spellings), np.array(voices)
    others = speakers[:, None] != speakers
    same = words[:, None] == words
    nearest = np.where(others, vectors @ vectors.T, -np.inf).argmax(axis=1)
    known = (same & others).any(axis=1)
    return float(same[np.arange(len(words)), nearest][known].mean()) if known.any() else np.nan
