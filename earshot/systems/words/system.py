"""Acoustic word embeddings: spoken and written words as vectors in one space."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import soxr
import torch
from scipy.special import softmax
from torch import Tensor
from torch.nn.functional import normalize

from earshot.core import cancellation
from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.load import Audio
from earshot.media.audio.vtlp import vtlp
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.phonemes import numbers
from earshot.models.words.word_embedder import (
    MultiViewEmbedder,
    PhonemeBottleneckEmbedder,
    build_embedder,
    config_from_dict,
)
from earshot.pretrained.checkpoint import (
    choose_device,
    companion,
    kind_of,
    load_weights,
    locate,
    read_config,
    weight_bytes,
)
from earshot.systems.words.front_end import FrontEnd, at_level, front_end_name, load_front_end
from earshot.systems.words.library import LibraryWord, View, WordLibrary
from earshot.systems.words.phoneme_lattice import foreign_likelihoods
from earshot.systems.words.pronunciation import Pronouncer, Pronunciation
from earshot.systems.words.spoken_word import Cut, find_word

DEFAULT: Final = CHECKPOINTS / "words"


@dataclass(frozen=True, eq=False)
class Spoken:
    """A recording (T,) at 16 kHz, where in it the word starts and ends (s), the word's unit vector
    (D,), and notices about the recording."""

    waveform: np.ndarray
    start: float
    end: float
    vector: np.ndarray
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Written:
    """A word as it was typed, its pronunciation, and its unit vector (D,)."""

    spelling: str
    pronunciation: Pronunciation
    vector: np.ndarray


@dataclass(frozen=True)
class Neighbour:
    """A word of the library, and its cosine to the query."""

    word: LibraryWord
    cosine: float


@dataclass(frozen=True)
class Guess:
    """A word that may have been spoken, and its probability, from 0 to 1."""

    spelling: str
    phonemes: tuple[str, ...]
    probability: float


class Words:
    """Multi-view acoustic word embeddings (Rhodes & Bains): an acoustic view and a written view.

    A checkpoint may be an ensemble: its config names others, whose vectors are concatenated, so
    that a cosine is the mean of theirs. The front end of some is log-mel frames, of
    some a recogniser's states. The networks are shared by all visitors and keep no state.
    """

    BATCH: Final = 64  # words in a batch
    CHUNK: Final = 2_000  # frames of a long recording that are encoded at once
    CONTEXT: Final = 60  # frames before and after them, a multiple of the encoder's subsampling
    GUESSES: Final = 5
    CANDIDATES: Final = 200  # written words in the softmax of a guess; the others are too far away

    def __init__(
        self, members: Sequence["Member"], config: dict[str, Any], device: torch.device
    ) -> None:
        """Keep the networks of an ensemble, the config of its checkpoint, and their device."""
        self._members = members
        self._front_ends = tuple(dict.fromkeys(member.front_end for member in members))
        self._width = sum(member.network.config.width for member in members)
        self._device = device
        self._durations = tuple(config.get("durations", (1.0,)))
        self.config = config
        self.fingerprint = ""
        self._folder = DEFAULT
        self.operating_curve: dict[str, list[float]] = config.get("operating_curve", {})
        self.threshold = _threshold(self.operating_curve)

    @classmethod
    def from_pretrained(cls, name: str | Path = DEFAULT, device: str = "auto") -> "Words":
        """Load a checkpoint: the name of one that is shipped, a folder, or a hub id.

        Raises FileNotFoundError where it is none of these, or where it needs a speech model that
        is not installed, CheckpointError for one that is of another task or cannot be used.
        """
        folder, place = locate(name), choose_device(device)
        config = read_config(folder)
        members = config.get("ensemble_with", ())
        folders = [folder, *(companion(folder, member) for member in members)]
        words = cls(_members(folders, place), config, place)
        words.fingerprint = hashlib.sha256(b"".join(map(weight_bytes, folders))).hexdigest()[:16]
        words._folder = folder
        return words

    @cached_property
    def pronounce(self) -> Pronouncer:
        """Load what reads typed words as phonemes."""
        return Pronouncer.from_pretrained(companion(self._folder, "g2p"))

    def embed_audio(self, audio: Audio, cut: Cut | None = None) -> Spoken:
        """Embed a recording of one word or short phrase. cut: its start and end in seconds;
        without it, the word is located by voice activity detection.

        Raises InputError where the recording cannot be used (see find_word), and CutNeededError,
        which proposes a cut, where it holds several words or a long one.
        """
        word = find_word(audio, cut)
        vector = self.embed_waveforms([word.waveform])[0]
        return Spoken(word.recording, word.start, word.end, vector, word.notices)

    def embed_text(self, text: str) -> Written:
        """Embed a word or short phrase in English, Chinese or Arabic, IPA, ARPAbet or pinyin.

        Raises InputError where it cannot be pronounced.
        """
        pronunciation = self.pronounce(text)
        vector = self.embed_phonemes([pronunciation.phonemes])[0]
        return Written(text.strip(), pronunciation, vector)

    def nearest(
        self, library: WordLibrary, vector: np.ndarray, view: View, limit: int = 10
    ) -> tuple[Neighbour, ...]:
        """Find the words of a view with the highest cosine to a unit vector (D,), best first."""
        # Vectors that were rounded on their way are a little longer than 1.
        cosines, rows = library.search(vector / np.linalg.norm(vector), view, limit)
        cosines = np.clip(cosines, -1, 1)
        pairs = zip(rows.tolist(), cosines.tolist(), strict=True)
        return tuple(Neighbour(library.words[row], cosine) for row, cosine in pairs)

    def guess(
        self, library: WordLibrary, spoken: Spoken, also: Sequence[Written] = ()
    ) -> tuple[Guess, ...]:
        """Guess which written word was spoken, of the library or ``also``, the most probable first.
        The probabilities sum to less than 1: the rest is that of a word outside both.

        They are a softmax of the cosines over a temperature. Homophones count once, and the
        unknown word has a cosine of its own; both numbers were fitted on validation data. To the
        cosine of a word with phonemes that English lacks, their likelihood is added.
        """
        cosines, rows = library.search(spoken.vector, "written", self.CANDIDATES)
        first: dict[tuple[str, ...], tuple[str, float]] = {}  # of each set of homophones
        for row, cosine in sorted(zip(rows.tolist(), cosines.tolist(), strict=True)):
            word = library.words[row]
            first.setdefault(word.phonemes, (word.spelling, cosine))
        for word in also:
            cosine = float(word.vector @ spoken.vector)
            first.setdefault(word.pronunciation.phonemes, (word.spelling, cosine))
        scores = [cosine for _, cosine in first.values()] + self._foreign_scores(spoken, [*first])
        another = self.config.get("another", self.threshold)
        weights = np.append(scores, another) / self.config.get("temperature", 0.1)
        shares = softmax(weights)[:-1].tolist()
        guesses = [
            Guess(spelling, phonemes, share)
            for (phonemes, (spelling, _)), share in zip(first.items(), shares, strict=True)
        ]
        guesses.sort(key=lambda guess: -guess.probability)
        return tuple(guesses[: self.GUESSES])

    def _foreign_scores(self, spoken: Spoken, words: Sequence[Sequence[str]]) -> np.ndarray:
        """Score words with phonemes that English lacks by their likelihood, where the config has
        its weight: 0 for the others, (N,)."""
        fitted = self.config.get("foreign_phonemes")
        if not fitted:
            return np.zeros(len(words))
        first, last = (round(second * SAMPLE_RATE) for second in (spoken.start, spoken.end))
        speech = at_level(spoken.waveform[first:last])
        posteriors = torch.from_numpy(self._log_posteriors(self._phoneme_members[0], speech))
        return fitted["weight"] * foreign_likelihoods(posteriors, words, fitted["usual"])

    def embed_waveforms(self, waveforms: Sequence[np.ndarray], once: bool = False) -> np.ndarray:
        """Map words at 16 kHz, (T,) float32 each, trimmed to the word → unit vectors (N, D).

        Their loudness is normalised first. Words of similar length share a batch. Networks over
        states embed each word in the durations of the config too, shares of its own, slower and
        deeper or faster and higher, as by other speakers; ``once``: only in its own.
        """
        words, frames = [at_level(waveform) for waveform in waveforms], {}
        for front_end in self._front_ends:
            durations = (1.0,) if once or front_end.views else self._durations
            frames[front_end] = [
                [front_end(_lasting(word, share)) for share in durations] for word in words
            ]
        return self._embed(frames)

    def log_posteriors(self, waveform: np.ndarray) -> tuple[np.ndarray, ...]:
        """Map speech at 16 kHz (T,), of any length → log posteriors of phonemes, with 0 the blank,
        in each step of the acoustic encoder: (S, P), which span the speech to within a step. By
        each phoneme-bottleneck model.
        """
        speech, each = at_level(waveform), []
        for member in self._phoneme_members:
            posteriors = self._log_posteriors(member, speech)
            margin = member.front_end.margin // member.network.config.stack
            each.append(posteriors[margin : len(posteriors) - margin])
        return tuple(each)

    def decode_phonemes(self, waveform: np.ndarray) -> tuple[int, ...]:
        """Decode the phonemes of a word (T,) at 16 kHz, by the last phoneme-bottleneck model: in
        the default, that over a recogniser's states, which errs less and takes longer.
        """
        return decode(self._log_posteriors(self._phoneme_members[-1], at_level(waveform)))

    @torch.inference_mode()
    def _log_posteriors(self, member: "Member", speech: np.ndarray) -> np.ndarray:
        """Map speech (T,) at the level of the front ends → log posteriors (S, P)."""
        network = member.network
        frames = torch.from_numpy(member.front_end(speech))
        step, parts = network.config.stack, []
        for first in range(0, len(frames), self.CHUNK):
            cancellation.check()
            before = min(first, self.CONTEXT)
            chunk = frames[first - before : first + self.CHUNK + self.CONTEXT][None]
            lengths = torch.tensor([chunk.shape[1]], device=self._device)
            logits, _ = network.predict_phonemes(chunk.to(self._device), lengths)
            end = -(-(before + min(self.CHUNK, len(frames) - first)) // step)
            inner = logits[0, before // step : end].float()  # half precision would round posteriors
            parts.append(inner.log_softmax(dim=-1).cpu().numpy())
        return np.concatenate(parts)

    @torch.inference_mode()
    def posterior_cosines(
        self, words: Sequence[Sequence[np.ndarray]], vector: np.ndarray
    ) -> np.ndarray:
        """Compute the cosines of words with a vector (D,), from their log posteriors (S, P) by each
        phoneme-bottleneck model alone: the mean over these models, (N,)."""
        cosines, first = [], 0
        for member in self._members:
            part = vector[first : first + member.network.config.width]
            first += len(part)
            if member not in self._phoneme_members:
                continue
            network = member.network
            if not isinstance(network, PhonemeBottleneckEmbedder):
                return np.zeros(len(words), np.float32)
            number = self._phoneme_members.index(member)
            frames, lengths = _stacked([word[number] for word in words])
            frames, lengths = frames.to(self._device), lengths.to(self._device)
            vectors = network.embed_posteriors(frames.softmax(dim=-1), lengths).cpu().numpy()
            cosines.append(vectors @ part / max(float(np.linalg.norm(part)), 1e-12))
        return np.mean(cosines, axis=0)

    @property
    def _phoneme_members(self) -> Sequence["Member"]:
        """Choose the phoneme-bottleneck models, if there are any: they see 0.3 s of context, and no
        word.
        """
        bottlenecks = [m for m in self._members if isinstance(m.network, PhonemeBottleneckEmbedder)]
        return bottlenecks or self._members

    @torch.inference_mode()
    def _embed(self, frames: Mapping[FrontEnd, Sequence[Sequence[np.ndarray]]]) -> np.ndarray:
        """Map the frames of words (S, M), of each front end, word and duration → unit vectors
        (N, D)."""
        first_frames = frames[self._front_ends[0]]
        count = len(first_frames)
        vectors = np.zeros((count, self._width), np.float32)
        order = sorted(range(count), key=lambda i: len(first_frames[i][0]))
        for first in range(0, count, self.BATCH):
            rows = order[first : first + self.BATCH]
            batches = {
                front_end: [_stacked(each) for each in zip(*(words[i] for i in rows), strict=True)]
                for front_end, words in frames.items()
            }
            parts = [
                torch.stack([self._encode(member, *b) for b in batches[member.front_end]]).mean(
                    dim=0
                )
                for member in self._members
            ]
            vectors[rows] = _concatenated(parts).cpu().numpy()
        return vectors

    def _encode(self, member: "Member", frames: Tensor, lengths: Tensor) -> Tensor:
        """Average over VTLP views, which makes vectors vary less from speaker to speaker: frames
        (B, S, M) → vectors (B, D). States of a speech model have one view.
        """
        network, views = member.network, member.front_end.views
        if not views:
            return network.embed_audio(frames.to(self._device), lengths.to(self._device))
        count = len(views)
        factors = torch.tensor(views).repeat_interleave(len(frames))
        warped = vtlp(frames.repeat(count, 1, 1), factors).to(self._device)
        vectors = network.embed_audio(warped, lengths.repeat(count).to(self._device))
        return vectors.unflatten(0, (count, -1)).mean(dim=0)

    @torch.inference_mode()
    def embed_phonemes(self, words: Sequence[Sequence[str]]) -> np.ndarray:
        """Embed the phonemes of each word (earshot.media.text.phonemes) → unit vectors (N, D)."""
        vectors = np.zeros((len(words), self._width), np.float32)
        for first in range(0, len(words), self.BATCH):
            part = words[first : first + self.BATCH]
            lengths = torch.tensor([len(word) for word in part])
            batch = torch.zeros(len(part), int(lengths.max()), dtype=torch.long)
            for row, word in zip(batch, part, strict=True):
                row[: len(word)] = torch.tensor(numbers(word))
            batch, lengths = batch.to(self._device), lengths.to(self._device)
            parts = [m.network.embed_phonemes(batch, lengths) for m in self._members]
            vectors[first : first + len(part)] = _concatenated(parts).cpu().numpy()
        return vectors


@dataclass(frozen=True, eq=False)
class Member:
    """A network of an ensemble with its front end."""

    network: MultiViewEmbedder
    front_end: FrontEnd


def _members(folders: Sequence[Path], device: torch.device) -> list[Member]:
    """Load the networks. Those of the same front end share it: frames are computed once."""
    front_ends: dict[str, FrontEnd] = {}
    members = []
    for folder in folders:
        config = read_config(folder)
        kind_of(folder, config.get("network", {}), "word embeddings", ["acoustic"])
        network = build_embedder(config_from_dict(config["network"]))
        load_weights(network, folder, device)
        name = front_end_name(config)
        if name not in front_ends:
            front_ends[name] = load_front_end(config, device.type)
        members.append(Member(network, front_ends[name]))
    return members


def _lasting(waveform: np.ndarray, share: float) -> np.ndarray:
    """Resample speech (T,) so that it lasts a share of its duration."""
    if share == 1:
        return waveform
    return soxr.resample(waveform, SAMPLE_RATE, share * SAMPLE_RATE)


def _stacked(frames: Sequence[np.ndarray]) -> tuple[Tensor, Tensor]:
    """Stack frames (S, M) of words: (B, S, M), padded with 0, and lengths (B,)."""
    lengths = torch.tensor([len(one) for one in frames])
    batch = torch.zeros(len(frames), int(lengths.max()), frames[0].shape[1])
    for row, one in zip(batch, frames, strict=True):
        row[: len(one)] = torch.from_numpy(one)
    return batch, lengths


def _threshold(curve: dict[str, list[float]]) -> float:
    """Find the cosine at which calling two words the same has the highest F1."""
    if not curve:
        return 0.5
    precision, recall = np.array(curve["precision"]), np.array(curve["recall"])
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    return float(curve["threshold"][int(f1.argmax())])


def decode(log_posteriors: np.ndarray) -> tuple[int, ...]:
    """Decode the phonemes of the best path of log_posteriors (S, P): repeats and blanks removed."""
    best = log_posteriors.argmax(axis=1)
    changed = np.diff(best, prepend=-1) != 0
    return tuple(best[changed & (best > 0)].tolist())


def _concatenated(parts: Sequence[Tensor]) -> Tensor:
    """Map vectors (B, D') of each network → unit vectors (B, D), in which all have equal weight."""
    return normalize(torch.cat([normalize(part, dim=1) for part in parts], dim=1), dim=1)
