"""Sounds and texts as vectors whose product says how well they match."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import torch

from media.audio import sound_features
from models.sound_embedder import SoundEmbedder, SoundEmbedderConfig
from pipelines.checkpoint import choose_device, load_weights, locate, read_config
from pipelines.sound_search.sentence_encoder import SentenceEncoder

BATCH: Final = 8  # segments
FRAMES_PER_SECOND: Final = sound_features.SAMPLE_RATE // sound_features.HOP_LENGTH


@dataclass(frozen=True, eq=False)
class AudioEmbedding:
    """Unit vectors of N segments: vectors (N, D), and of each of their seconds (N, S, D)."""

    vectors: np.ndarray
    seconds: np.ndarray


class SoundEncoder(Protocol):
    """What search needs of a model. Vectors have D = `dimension` numbers and length 1.

    fingerprint is a hash of all that the vectors depend on; a best score under `threshold` means
    that nothing matches.
    """

    @property
    def name(self) -> str: ...
    @property
    def sample_rate(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def threshold(self) -> float: ...
    def segments(self, waveform: np.ndarray) -> np.ndarray:
        """Equal parts of at most 10 s that cover a whole waveform: (T,) → (N, T')."""
        ...

    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        """Vectors of segments (N, T'), at sample_rate."""
        ...

    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of n texts: (n, D)."""
        ...


class EarshotEncoder:
    """One or more of our checkpoints. Several are an ensemble (Primus et al. 2023, section 3):
    their vectors, end to end, give the mean of their scores."""

    sample_rate: int = sound_features.SAMPLE_RATE

    def __init__(
        self, members: dict[str, SoundEmbedder], sentences: SentenceEncoder, threshold: float
    ) -> None:
        self.name = " + ".join(members)
        self.threshold = threshold
        self.dimension = sum(member.config.width for member in members.values())
        self.fingerprint = _fingerprint(members, sentences.name)
        self._members = list(members.values())
        self._sentences = sentences

    @classmethod
    def from_pretrained(
        cls, folders: str | Path | Sequence[str | Path], device: str = "auto"
    ) -> "EarshotEncoder":
        """Load one or more folders or hub ids.

        Raises FileNotFoundError where there is no checkpoint, ValueError when their sentence
        encoders differ.
        """
        names = [folders] if isinstance(folders, str | Path) else list(folders)
        place = choose_device(device)
        members, encoders, thresholds = {}, set(), []
        for folder in map(locate, names):
            config = read_config(folder)
            network = SoundEmbedder(SoundEmbedderConfig.from_dict(config["network"]))
            load_weights(network, folder, place)
            members[folder.name] = network
            encoders.add(config["sentence_encoder"])
            thresholds.append(config["threshold"])
        if len(encoders) != 1:
            raise ValueError(f"An ensemble needs one sentence encoder, not {sorted(encoders)}.")
        sentences = SentenceEncoder(encoders.pop(), place)
        return cls(members, sentences, float(np.mean(thresholds)))

    def segments(self, waveform: np.ndarray) -> np.ndarray:
        """Equal parts of at most 10 s that cover the whole sound, scaled alike: (T,) → (N, T')."""
        return sound_features.split(waveform)

    @torch.inference_mode()
    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        """Vectors of segments (N, T') as `segments` gives them."""
        vectors, seconds = [], []
        for first in range(0, len(segments), BATCH):
            mel = torch.from_numpy(sound_features.log_mel(segments[first : first + BATCH]))
            whole, parts = zip(
                *(m.embed_parts(mel.to(_device(m)), FRAMES_PER_SECOND) for m in self._members),
                strict=True,
            )
            vectors.append(_joined(whole))
            seconds.append(_joined(parts))
        return AudioEmbedding(np.concatenate(vectors), np.concatenate(seconds))

    @torch.inference_mode()
    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of n texts: (n, D)."""
        sentences = torch.from_numpy(self._sentences(texts))
        return _joined([m.embed_sentences(sentences.to(_device(m))) for m in self._members])


def _joined(vectors: Sequence[torch.Tensor]) -> np.ndarray:
    return torch.cat(list(vectors), dim=-1).div(len(vectors) ** 0.5).cpu().numpy()


def _device(network: SoundEmbedder) -> torch.device:
    return network.log_scale.device


def _fingerprint(members: dict[str, SoundEmbedder], sentence_encoder: str) -> str:
    constants = {
        name: getattr(sound_features, name) for name in dir(sound_features) if name.isupper()
    }
    digest = hashlib.sha256(json.dumps([constants, sentence_encoder], sort_keys=True).encode())
    for network in members.values():
        digest.update(repr(network.config).encode())
        for weight in network.state_dict().values():
            digest.update(weight.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
