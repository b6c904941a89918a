"""Judges of the hub instead of ours: --asr names a Whisper, --speaker a WavLM with x-vectors.

Whisper: Radford et al. 2022, arXiv:2212.04356. WavLM: Chen et al. 2021, arXiv:2110.13900; its
x-vectors are those of Snyder et al. 2018, and nothing here was trained with either.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from torch.nn.functional import normalize
from transformers import (
    AutoFeatureExtractor,
    WavLMForXVector,
    WhisperForConditionalGeneration,
    WhisperProcessor,
)

from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.accelerator import choose_device
from earshot.pretrained.hub import load_model, precision
from training.judges.sphinx import spoken_words

WINDOW: Final = 30 * SAMPLE_RATE  # samples that Whisper takes at once
MIN_SAMPLES: Final = SAMPLE_RATE // 2  # less is fewer frames than the x-vector's layers take
MAX_TOKENS: Final = 200  # of a window


class Whisper:
    """A Whisper that recognises English without a grammar."""

    def __init__(
        self, name: str, model: WhisperForConditionalGeneration, processor: WhisperProcessor
    ) -> None:
        self.name, self._model, self._processor = name, model, processor
        several = getattr(model.generation_config, "is_multilingual", False)
        english = {"language": "en", "task": "transcribe"}
        self._language: dict[str, Any] = english if several else {}

    @classmethod
    def from_pretrained(cls, name: str, device: str = "auto") -> "Whisper":
        """Load a Whisper by folder or hub id. Raises FileNotFoundError where there is no
        Whisper.
        """
        place = choose_device(device, large=True)
        model = load_model(WhisperForConditionalGeneration, name, dtype=precision(place)).eval()
        torch.nn.Module.to(model, place)
        return cls(name, model, load_model(WhisperProcessor, name))

    @torch.inference_mode()
    def words(self, waveform: np.ndarray) -> list[str]:
        """Recognise a waveform (T,) at 16 kHz as spoken words; [] when there are none."""
        words: list[str] = []
        for start in range(0, len(waveform), WINDOW):
            features = self._processor.feature_extractor(
                waveform[start : start + WINDOW], sampling_rate=SAMPLE_RATE, return_tensors="pt"
            ).input_features.to(self._model.device, self._model.dtype)
            tokens = self._model.generate(
                features, max_new_tokens=MAX_TOKENS, do_sample=False, **self._language
            )
            text = self._processor.batch_decode(tokens, skip_special_tokens=True)
            words += spoken_words(text[0])
        return words


class XVectors:
    """A speaker encoder, which makes a vector of the voice of a recording."""

    def __init__(self, name: str, model: WavLMForXVector, normalized: bool) -> None:
        """Keep the model. normalized: whether it was trained on waveforms of mean 0 and variance
        1.
        """
        self.name, self._model, self._normalized = name, model, normalized

    @classmethod
    def from_pretrained(cls, name: str, device: str = "auto") -> "XVectors":
        """Load a speaker encoder by folder or hub id. Raises FileNotFoundError where there is no
        such model.
        """
        place = choose_device(device, large=True)
        model = load_model(WavLMForXVector, name, dtype=precision(place)).eval()
        torch.nn.Module.to(model, place)
        return cls(name, model, load_model(AutoFeatureExtractor, name).do_normalize)

    @torch.inference_mode()
    def embed(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Embed waveforms (T,) at 16 kHz as unit vectors (N, D)."""
        return np.stack([self._embed(waveform) for waveform in waveforms])

    def _embed(self, waveform: np.ndarray) -> np.ndarray:
        padded = np.pad(waveform, (0, max(0, MIN_SAMPLES - len(waveform)))).astype(np.float32)
        if self._normalized:
            padded = (padded - padded.mean()) / np.sqrt(padded.var() + 1e-7)
        weight = next(self._model.parameters())
        vectors = self._model(torch.from_numpy(padded)[None].to(weight)).embeddings
        return normalize(vectors[0].float(), dim=0).cpu().numpy()


@dataclass(frozen=True)
class Judges:
    """The judges that were named; None where ours is used."""

    asr: Whisper | None = None
    speakers: XVectors | None = None

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> "Judges":
        """Load what --asr and --speaker name. Raises SystemExit with --publish: tables are ours."""
        named = arguments.asr or arguments.speaker
        if arguments.publish and named:
            raise SystemExit("--publish writes the table of our judges: leave out " + named)
        return cls(
            Whisper.from_pretrained(arguments.asr) if arguments.asr else None,
            XVectors.from_pretrained(arguments.speaker) if arguments.speaker else None,
        )
