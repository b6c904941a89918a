"""CLAP models of transformers (such as laion/clap-htsat-unfused) as a SoundEncoder."""

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from transformers import ClapModel, ClapProcessor

from earshot.pretrained.accelerator import choose_device, lent
from earshot.sound_index.embedding import AudioEmbedding

BATCH: Final = 8  # segments
MAX_TOKENS: Final = 77  # as in CLAP's training


class ClapEncoder:
    """A ClapModel as a SoundEncoder."""

    threshold: float = -1.0  # not calibrated: every query has a match
    own_threshold: float = -1.0

    def __init__(self, name: str, model: ClapModel, processor: ClapProcessor) -> None:
        self.name = name
        self._model = model
        self._features = processor.feature_extractor
        self._tokenizer = processor.tokenizer
        self.sample_rate: int = self._features.sampling_rate
        self.dimension: int = model.config.projection_dim
        self.fingerprint = self._fingerprint()
        self._embed_batch = lent(f"{self.fingerprint} sounds", self._embed)
        self._embed_texts = lent(f"{self.fingerprint} texts", self._encode)

    @classmethod
    def from_pretrained(cls, name: str | Path, device: str = "auto") -> "ClapEncoder":
        """Load a folder that transformers saved, or a hub id. Raises OSError when it is neither."""
        model = ClapModel.from_pretrained(name).eval()
        nn.Module.to(model, choose_device(device, large=True))
        return cls(Path(name).name, model, ClapProcessor.from_pretrained(name))

    def segments(self, waveform: np.ndarray) -> np.ndarray:
        """Cut equal segments, none longer than the model's input: (T,) → (N, T')."""
        n_segments = max(1, math.ceil(len(waveform) / self._features.nb_max_samples))
        length = max(math.ceil(len(waveform) / n_segments), self.sample_rate)
        padded = np.pad(waveform, (0, n_segments * length - len(waveform)))
        return padded.reshape(n_segments, length).astype(np.float32)

    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        """Embed segments (N, T') and their seconds, in one forward pass."""
        parts = [self._embed_batch(segments[i : i + BATCH]) for i in range(0, len(segments), BATCH)]
        vectors, per_second = (np.concatenate(part) for part in zip(*parts, strict=True))
        return AudioEmbedding(
            vectors, per_second[:, : math.ceil(segments.shape[1] / self.sample_rate)]
        )

    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        """Embed n texts: (n, D)."""
        return self._embed_texts(list(texts))

    @torch.inference_mode()
    def _encode(self, texts: list[str]) -> np.ndarray:
        tokens = self._tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=MAX_TOKENS,
            return_tensors="pt",
        ).to(self._model.device)
        outputs = self._model.text_model(**tokens)
        return _unit(self._model.text_projection(outputs.pooler_output))

    @torch.inference_mode()
    def _embed(self, segments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Embed segments (B, T') as unit vectors (B, D), and as (B, S, D) of every second of the
        model's input.
        """
        inputs = self._features(
            list(segments), sampling_rate=self.sample_rate, return_tensors="pt"
        ).to(self._model.device)
        # The extractor of fused models marks a random clip as longer than its input: none is.
        outputs = self._model.audio_model(
            inputs["input_features"], is_longer=torch.zeros_like(inputs["is_longer"])
        )
        states = outputs.last_hidden_state.mean(dim=2)  # over frequency: (B, C, steps)
        per_second = F.adaptive_avg_pool1d(states, self._features.max_length_s).transpose(1, 2)
        project = self._model.audio_projection
        return _unit(project(outputs.pooler_output)), _unit(project(per_second))

    def _fingerprint(self) -> str:
        digest = hashlib.sha256(self._features.to_json_string().encode())
        for name, weight in sorted(self._model.state_dict().items()):
            digest.update(name.encode())
            digest.update(weight.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()


def _unit(vectors: torch.Tensor) -> np.ndarray:
    return F.normalize(vectors.float(), dim=-1).cpu().numpy()
