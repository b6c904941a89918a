"""Sounds and texts as unit vectors whose inner product is their similarity."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import torch

from earshot.media.audio import sound_features
from earshot.models.sound_search.sound_embedder import (
    KINDS_SHARE,
    SoundEmbedder,
    SoundEmbedderConfig,
)
from earshot.pipelines.checkpoint import choose_device, kind_of, load_weights, locate, read_config
from earshot.pipelines.sound_search.encoders.sentence import SentenceEncoder

BATCH: Final = 8  # segments
FRAMES_PER_SECOND: Final = sound_features.SAMPLE_RATE // sound_features.HOP_LENGTH


@dataclass(frozen=True, eq=False)
class AudioEmbedding:
    """Unit vectors of N segments: ``vectors`` (N, D), and of each second of each: (N, S, D)."""

    vectors: np.ndarray
    per_second: np.ndarray


class SoundEncoder(Protocol):
    """The interface that search needs of a model. Vectors have D = ``dimension`` numbers and unit
    length.

    fingerprint: a hash of everything that the vectors depend on. threshold: where the best score
    is lower, no sound matches, of a library of everyday sounds; own_threshold: of a folder of
    anything, speech, noise and tones for example.
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
    @property
    def own_threshold(self) -> float: ...
    def segments(self, waveform: np.ndarray) -> np.ndarray:
        """Cut equal segments of at most 10 s that cover a whole waveform: (T,) → (N, T')."""
        ...

    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        """Embed segments (N, T'), at sample_rate."""
        ...

    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        """Embed n texts: (n, D)."""
        ...


class EarshotEncoder:
    """One or more of our checkpoints. Several form an ensemble (Primus et al. 2023, section 3):
    the inner product of their concatenated vectors is the mean of their scores."""

    sample_rate: int = sound_features.SAMPLE_RATE

    def __init__(
        self,
        members: dict[str, SoundEmbedder],
        sentences: SentenceEncoder,
        threshold: float,
        own_threshold: float,
    ) -> None:
        self.name = " + ".join(members)
        self.threshold, self.own_threshold = threshold, own_threshold
        self.dimension = sum(member.config.dimension for member in members.values())
        self.fingerprint = _fingerprint(members, sentences.name)
        self._members = list(members.values())
        self._sentences = sentences

    @classmethod
    def from_pretrained(
        cls, folders: str | Path | Sequence[str | Path], device: str = "auto"
    ) -> "EarshotEncoder":
        """Load one or more checkpoints: names of shipped ones, folders or hub ids.

        Raises FileNotFoundError where there is none, CheckpointError for one that is of another
        task or cannot be used, ValueError when their sentence encoders differ.
        """
        names = [folders] if isinstance(folders, str | Path) else list(folders)
        target = choose_device(device)
        members, encoders, thresholds, own = {}, set(), [], []
        for folder in map(locate, names):
            config = read_config(folder)
            kind_of(folder, config, "sound search", ["sentence_encoder"])
            network = SoundEmbedder(SoundEmbedderConfig.from_dict(config["network"]))
            load_weights(network, folder, target)
            members[folder.name] = network
            encoders.add(config["sentence_encoder"])
            thresholds.append(config["threshold"])
            own += [config["own_threshold"]] if "own_threshold" in config else []
        if len(encoders) != 1:
            raise ValueError(f"An ensemble needs one sentence encoder, not {sorted(encoders)}.")
        sentences = SentenceEncoder(encoders.pop(), target)
        return cls(
            members, sentences, float(np.mean(thresholds)), float(np.mean(own or thresholds))
        )

    def segments(self, waveform: np.ndarray) -> np.ndarray:
        """Cut equal segments of at most 10 s that cover the peak-normalised sound: (T,) → (N,
        T').
        """
        return sound_features.split(waveform)

    @torch.inference_mode()
    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        """Embed segments (N, T') as `segments` gives them."""
        vectors, per_second = [], []
        for first in range(0, len(segments), BATCH):
            mel = torch.from_numpy(sound_features.log_mel(segments[first : first + BATCH]))
            whole, parts = zip(
                *(m.embed_parts(mel.to(_device(m)), FRAMES_PER_SECOND) for m in self._members),
                strict=True,
            )
            vectors.append(_concatenated(whole))
            per_second.append(_concatenated(parts))
        return AudioEmbedding(np.concatenate(vectors), np.concatenate(per_second))

    @torch.inference_mode()
    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        """Embed n texts: (n, D)."""
        sentences = torch.from_numpy(self._sentences(texts))
        return _concatenated([m.embed_sentences(sentences.to(_device(m))) for m in self._members])


def _concatenated(vectors: Sequence[torch.Tensor]) -> np.ndarray:
    """Concatenate the members' unit vectors to one unit vector: (…, D) each → (…, sum of D)."""
    return torch.cat(list(vectors), dim=-1).div(len(vectors) ** 0.5).cpu().numpy()


def _device(network: SoundEmbedder) -> torch.device:
    return network.log_scale.device


def _fingerprint(members: dict[str, SoundEmbedder], sentence_encoder: str) -> str:
    # Indexes that were made when constants and fields had other names remain valid.
    constants = {
        name.replace("MIN_SECONDS", "SHORTEST_SECONDS"): getattr(sound_features, name)
        for name in dir(sound_features)
        if name.isupper()
    }
    digest = hashlib.sha256(json.dumps([constants, sentence_encoder], sort_keys=True).encode())
    for network in members.values():
        digest.update(repr(network.config).replace("std=", "deviation=").encode())
        if network.config.holds_kinds:
            digest.update(repr(KINDS_SHARE).encode())
        for weight in network.state_dict().values():
            digest.update(weight.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
