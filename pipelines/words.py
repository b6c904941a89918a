"""Acoustic word embeddings: spoken and written words as vectors in one space."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from media.audio import match_loudness
from media.features import SAMPLE_RATE, log_mel
from media.phonemes import numbers
from models.word_embedder import WordEmbedder, WordEmbedderConfig
from pipelines.checkpoint import choose_device, load_weights, locate, read_config


class Words:
    """Rhodes & Bains' multi-view embeddings, one network for what is said and one for phonemes.

    The network is shared by all visitors; nothing of theirs is kept here.
    """

    LEVEL: Final = -23.0  # LUFS at which the network hears a word
    BATCH: Final = 64  # words at once

    def __init__(self, network: WordEmbedder, config: dict[str, Any], device: torch.device) -> None:
        self._network = network
        self._device = device
        self.config = config
        self.fingerprint = ""

    @classmethod
    def from_pretrained(
        cls, name: str | Path = "checkpoints/words", device: str = "auto"
    ) -> "Words":
        """Load a checkpoint: a folder, or a hub id. Raises FileNotFoundError when it is neither."""
        folder, place = locate(name), choose_device(device)
        config = read_config(folder)
        network = WordEmbedder(WordEmbedderConfig.from_dict(config["network"]))
        load_weights(network, folder, place)
        words = cls(network, config, place)
        weights = (folder / "model.safetensors").read_bytes()
        words.fingerprint = hashlib.sha256(weights).hexdigest()[:16]
        return words

    @torch.inference_mode()
    def embed_waveforms(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        """Words at 16 kHz, (T,) float32 each, cut to the word → unit vectors (N, D).

        They are brought to one loudness first. Words of like length share a batch.
        """
        mels = [log_mel(match_loudness(w, SAMPLE_RATE, self.LEVEL)) for w in waveforms]
        vectors = np.zeros((len(mels), self._network.config.width), np.float32)
        order = sorted(range(len(mels)), key=lambda i: len(mels[i]))
        for first in range(0, len(order), self.BATCH):
            rows = order[first : first + self.BATCH]
            lengths = torch.tensor([len(mels[i]) for i in rows])
            batch = torch.zeros(len(rows), int(lengths.max()), mels[rows[0]].shape[1])
            for row, i in zip(batch, rows, strict=True):
                row[: len(mels[i])] = torch.from_numpy(mels[i])
            embedded = self._network.embed_audio(batch.to(self._device), lengths.to(self._device))
            vectors[rows] = embedded.cpu().numpy()
        return vectors

    @torch.inference_mode()
    def embed_phonemes(self, words: Sequence[Sequence[str]]) -> np.ndarray:
        """Phonemes of each word (media.phonemes) → unit vectors (N, D)."""
        vectors = np.zeros((len(words), self._network.config.width), np.float32)
        for first in range(0, len(words), self.BATCH):
            part = words[first : first + self.BATCH]
            lengths = torch.tensor([len(word) for word in part])
            batch = torch.zeros(len(part), int(lengths.max()), dtype=torch.long)
            for row, word in zip(batch, part, strict=True):
                row[: len(word)] = torch.tensor(numbers(word))
            embedded = self._network.embed_phonemes(
                batch.to(self._device), lengths.to(self._device)
            )
            vectors[first : first + len(part)] = embedded.cpu().numpy()
        return vectors
