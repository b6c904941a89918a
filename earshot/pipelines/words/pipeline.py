"""Acoustic word embeddings: spoken and written words as vectors in one space."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from scipy.special import softmax

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.load import Audio
from earshot.models.words.word_embedder import MultiViewEmbedder, build_embedder, config_from_dict
from earshot.pipelines.checkpoint import choose_device, companion, load_weights, locate, read_config
from earshot.pipelines.words.encoder import WordEncoder
from earshot.pipelines.words.library import View, WordLibrary
from earshot.pipelines.words.pronunciation import Pronouncer
from earshot.pipelines.words.result import Guess, Neighbour, Spoken, Written
from earshot.pipelines.words.spoken_word import Cut, find_word


class Words(WordEncoder):
    """Multi-view acoustic word embeddings (Rhodes & Bains): an acoustic view and a written view.

    A checkpoint may be an ensemble: its config names others.
    """

    GUESSES: Final = 5
    CANDIDATES: Final = 200  # written words in the softmax of a guess; the others are too far away

    def __init__(
        self, networks: Sequence[MultiViewEmbedder], config: dict[str, Any], device: torch.device
    ) -> None:
        super().__init__(networks, config, device)
        self.config = config
        self.fingerprint = ""
        self._folder = CHECKPOINTS / "words"
        self.operating_curve: dict[str, list[float]] = config.get("operating_curve", {})
        self.threshold = _threshold(self.operating_curve)

    @classmethod
    def from_pretrained(
        cls, name: str | Path = "checkpoints/words", device: str = "auto"
    ) -> "Words":
        """Load a checkpoint: a folder, or a hub id. Raises FileNotFoundError when it is neither."""
        folder, place = locate(name), choose_device(device)
        config = read_config(folder)
        members = config.get("ensemble_with", ())
        folders = [folder, *(companion(folder, member) for member in members)]
        words = cls([_network(each, place) for each in folders], config, place)
        weights = b"".join((each / "model.safetensors").read_bytes() for each in folders)
        words.fingerprint = hashlib.sha256(weights).hexdigest()[:16]
        words._folder = folder
        return words

    @cached_property
    def _pronounce(self) -> Pronouncer:
        return Pronouncer.from_pretrained(companion(self._folder, "g2p"))

    def embed_audio(self, audio: Audio, cut: Cut | None = None) -> Spoken:
        """A recording of one word or short phrase. cut: its start and end in seconds; without it,
        the word is located by voice activity detection.

        Raises InputError where the recording cannot be used (see find_word), and CutNeededError,
        which proposes a cut, where it holds several words or a long one.
        """
        word = find_word(audio, cut)
        vector = self.embed_waveforms([word.waveform])[0]
        return Spoken(word.recording, word.start, word.end, vector)

    def embed_text(self, text: str) -> Written:
        """A word or short phrase in English letters, IPA, ARPAbet or pinyin.

        Raises InputError where it cannot be pronounced.
        """
        pronunciation = self._pronounce(text)
        vector = self.embed_phonemes([pronunciation.phonemes])[0]
        return Written(text.strip(), pronunciation, vector)

    def nearest(
        self, library: WordLibrary, vector: np.ndarray, view: View, limit: int = 10
    ) -> tuple[Neighbour, ...]:
        """The words of a view with the highest cosine to a unit vector (D,), best first."""
        cosines, rows = library.search(vector, view, limit)
        pairs = zip(rows.tolist(), cosines.tolist(), strict=True)
        return tuple(Neighbour(library.words[row], cosine) for row, cosine in pairs)

    def guess(self, library: WordLibrary, spoken: Spoken) -> tuple[Guess, ...]:
        """Which written word was spoken, the most probable first. The probabilities sum to less
        than 1: the rest is that of a word outside the library.

        They are a softmax of the cosines over a temperature. Homophones count once, and the
        unknown word has a cosine of its own; both numbers were fitted on validation recordings.
        """
        cosines, rows = library.search(spoken.vector, "written", self.CANDIDATES)
        first: dict[tuple[str, ...], Neighbour] = {}  # of each set of homophones
        for row, cosine in sorted(zip(rows.tolist(), cosines.tolist(), strict=True)):
            word = library.words[row]
            first.setdefault(word.phonemes, Neighbour(word, cosine))
        best = sorted(first.values(), key=lambda neighbour: -neighbour.cosine)
        another = self.config.get("another", self.threshold)
        weights = np.array([another, *(neighbour.cosine for neighbour in best)])
        shares = softmax(weights / self.config.get("temperature", 0.1))[1:].tolist()
        guesses = [
            Guess(neighbour.word.spelling, neighbour.word.phonemes, share)
            for neighbour, share in zip(best, shares, strict=True)
        ]
        return tuple(guesses[: self.GUESSES])


def _network(folder: Path, device: torch.device) -> MultiViewEmbedder:
    network = build_embedder(config_from_dict(read_config(folder)["network"]))
    load_weights(network, folder, device)
    return network


def _threshold(curve: dict[str, list[float]]) -> float:
    """The cosine at which calling two words the same has the highest F1."""
    if not curve:
        return 0.5
    precision, recall = np.array(curve["precision"]), np.array(curve["recall"])
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    return float(curve["threshold"][int(f1.argmax())])
