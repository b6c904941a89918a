"""The prepared words in memory, and batches of them.

Shapes: N recordings, B batch, W words of a batch, S frames of 10 ms, M mel bands, P phonemes; over
a front end frames are of 20 ms, and M is their width.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.models.words.word_embedder import WordEmbedderConfig
from training.common.commands import front_end_of
from training.common.loop import numpy_generator
from training.words.concatenation import (
    TONE_NUMBERS,
    Concatenation,
    Concatenations,
    Utterance,
    Word,
)
from training.words.frames.arrays import Arrays, padded, stacked
from training.words.frames.augment import augment, match_channel

UTTERANCES: Final = 2  # of each word in a batch
MAX_FRAMES: Final = 170  # frames; the rest of a longer word is not used
CHUNKS: Final = 4  # of a batch, each of words of similar length, to save padding
SAMPLE: Final = 10_000  # frames that mean and deviation are taken of
SYNTHETIC_VOICE: Final = 0.2  # share of synthetic utterances of words that were also recorded


@dataclass(frozen=True)
class Mixture:
    """The composition of a batch, as shares of its words.

    recorded: said by people, where there are enough such words; concatenated: from two recordings
    of one speaker; spliced: from recordings of several, in another voice, and tone_changed:
    recorded Mandarin words with other tones (see training.words.converted); the rest is
    synthetic speech. channel_matched: share of the synthetic utterances with the channel of a
    recording; channel_swapped: share of the recorded ones with that of another. narrow_band,
    liftered, noisy: see augment; words with tones are not liftered.
    """

    recorded: float = 0.3
    concatenated: float = 0.35
    spliced: float = 0.0
    tone_changed: float = 0.0
    channel_matched: float = 0.0
    channel_swapped: float = 0.0
    narrow_band: float = 0.15
    liftered: float = 0.0
    noisy: float = 0.4


MIXTURE: Final = Mixture()


@dataclass(frozen=True)
class Batch:
    """UTTERANCES of each of W words: chunks of mel (b, S, M) with lengths (b,); labels (B,): the
    word of each row, in the order of the chunks; phonemes (W, P) with their lengths (W,)."""

    chunks: list[tuple[Tensor, Tensor]]
    labels: Tensor
    phonemes: Tensor
    phoneme_lengths: Tensor


class TrainingWords:
    """Every recorded and synthetic word of a run.

    held_out: words that are not trained on; speakers of the validation split never are. shards: how
    many of the arrays of synthetic words are read. converted: whether those in the voices of people
    are.
    """

    def __init__(
        self,
        run: Path,
        shards: int,
        held_out: Collection[Word] = (),
        mixture: Mixture = MIXTURE,
        converted: bool = False,
    ) -> None:
        self._mixture = mixture
        self._arrays = Arrays()
        self.recorded: dict[Word, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self.synthetic: dict[Word, list[int]] = defaultdict(list)
        # File → share of a batch, of the words that voice conversion made of recorded ones.
        shares = {"spliced": mixture.spliced, "tone-changed": mixture.tone_changed}
        self._shares = {name: share for name, share in shares.items() if share}
        self._made_words: dict[str, dict[Word, list[int]]] = {
            name: defaultdict(list) for name in self._shares
        }
        self.validation: list[Utterance] = []
        over_front_end = front_end_of(run) is not None
        self._noise = None if over_front_end else np.load(run / "noise.npz")["frames"]
        self._hops = 2 if over_front_end else 1  # of 10 ms, in a frame
        training: list[Utterance] = []
        paths = [run / "recorded.npz", *(run / f"synthetic-{i}.npz" for i in range(shards))]
        paths += [run / "converted.npz"] if converted else []
        paths += [run / f"{name}.npz" for name in self._shares]
        for part, path in enumerate(paths):
            for utterance, validates in self._arrays.read(path):
                if validates:
                    self.validation.append(utterance)
                elif utterance.word in held_out:
                    continue
                elif path.stem in self._shares:
                    self._made_words[path.stem][utterance.word].append(utterance.number)
                elif part:
                    self.synthetic[utterance.word].append(utterance.number)
                else:
                    self.recorded[utterance.word][utterance.speaker].append(utterance.number)
                    training.append(utterance)
        self._recorded_words = list(self.recorded)
        starts = np.load(run / "starts.npy") // self._hops
        self._concatenations = Concatenations(training, starts, held_out)
        recorded = {utterance.word for utterance in (*training, *self.validation)}
        self._validation_concatenations = Concatenations(self.validation, starts, recorded)

    def fitted(self, config: WordEmbedderConfig) -> WordEmbedderConfig:
        """Fit the config to these frames: of a front end, their width, mean and deviation."""
        if self._noise is not None:
            return config
        frames = self._arrays.files[0]
        sample = frames[:: max(1, len(frames) // SAMPLE)].astype(np.float32)
        mean, std = float(sample.mean()), float(sample.std())
        return replace(config, n_mels=sample.shape[1], mean=mean, std=std)

    def mel(self, number: int) -> np.ndarray:
        """Read the frames of a recording without augmentation: (S, M), S ≤ MAX_FRAMES."""
        return self._arrays.frames(number)[: MAX_FRAMES // self._hops]

    def unrecorded(self, count: int) -> list[tuple[Word, np.ndarray]]:
        """Concatenate words that nobody recorded from recordings of validation speakers, with their
        frames (S, M); the same ones each time.

        Training may have concatenated some of these words too, from other speakers.
        """
        rng = np.random.default_rng(0)
        drawn = (self._validation_concatenations.draw(1, rng) for _ in range(count))
        return [(word, self._concatenated(parts)) for word, [parts] in drawn]

    def batches(self, n_words: int, generator: torch.Generator) -> Iterator[Batch]:
        """Yield endless batches of n_words words, UTTERANCES of each, augmented anew each time."""
        rng = numpy_generator(generator)
        recorded, synthetic = list(self.recorded), list(self.synthetic)
        pools_of = {name: list(pools) for name, pools in self._made_words.items()}
        n_recorded = min(round(self._mixture.recorded * n_words), len(recorded))
        while True:
            chosen: dict[Word, list[np.ndarray]] = {}
            for index in rng.choice(len(recorded), n_recorded, replace=False):
                chosen[recorded[index]] = self._utterances(recorded[index], rng)
            for _ in range(round(self._mixture.concatenated * n_words)):
                word, drawn = self._concatenations.draw(UTTERANCES, rng)
                chosen.setdefault(word, [self._concatenated(parts) for parts in drawn])
            for name, share in self._shares.items():
                for _ in range(round(share * n_words)):
                    word = pools_of[name][rng.integers(len(pools_of[name]))]
                    pools = [self._made_words[name][word]] * UTTERANCES
                    chosen.setdefault(word, self._drawn(pools, rng))
            while len(chosen) < n_words:
                word = synthetic[rng.integers(len(synthetic))]
                chosen.setdefault(word, self._utterances(word, rng))
            yield self._batch(chosen, rng)

    def _utterances(self, word: Word, rng: np.random.Generator) -> list[np.ndarray]:
        """Draw frames (S, M) of UTTERANCES recordings of a word, by different speakers if
        possible.
        """
        if word in self.recorded:
            # Drawn by speaker, not by recording: of many words one speaker said nine in ten.
            speakers = list(self.recorded[word].values())
            few = len(speakers) < UTTERANCES
            pools = [speakers[i] for i in rng.choice(len(speakers), UTTERANCES, replace=few)]
            if word in self.synthetic:
                pools = [
                    self.synthetic[word] if rng.random() < SYNTHETIC_VOICE else pool
                    for pool in pools
                ]
        else:
            pools = [self.synthetic[word]] * UTTERANCES
        return self._drawn(pools, rng)

    def _drawn(self, pools: list[list[int]], rng: np.random.Generator) -> list[np.ndarray]:
        return [self._utterance(pool[rng.integers(len(pool))], rng) for pool in pools]

    def _utterance(self, number: int, rng: np.random.Generator) -> np.ndarray:
        """Read the frames of a recording (S, M), perhaps with the channel of another."""
        is_synthetic = self._arrays.file_of(number) > 0
        mixture = self._mixture
        share = mixture.channel_matched if is_synthetic else mixture.channel_swapped
        if not share or rng.random() >= share:
            return self.mel(number)
        word = self._recorded_words[rng.integers(len(self._recorded_words))]
        speakers = list(self.recorded[word].values())
        pool = speakers[rng.integers(len(speakers))]
        return match_channel(self.mel(number), self.mel(pool[rng.integers(len(pool))]), rng)

    def _concatenated(self, parts: Concatenation) -> np.ndarray:
        first, second = self.mel(parts.first)[: parts.end], self.mel(parts.second)[parts.start :]
        return np.concatenate([first, second])[: MAX_FRAMES // self._hops]

    def _batch(self, chosen: dict[Word, list[np.ndarray]], rng: np.random.Generator) -> Batch:
        rows = [(mel, label) for label, mels in enumerate(chosen.values()) for mel in mels]
        rows.sort(key=lambda row: len(row[0]))
        size = -(-len(rows) // CHUNKS)
        words = list(chosen)
        chunks = [
            self._chunk([(mel, words[label]) for mel, label in rows[i : i + size]], rng)
            for i in range(0, len(rows), size)
        ]
        labels = torch.tensor([label for _, label in rows])
        return Batch(chunks, labels, *padded(words))

    def _chunk(
        self, utterances: list[tuple[np.ndarray, Word]], rng: np.random.Generator
    ) -> tuple[Tensor, Tensor]:
        """Stack frames (S, M) of words, augmented where they are log-mel: (B, S, M), lengths
        (B,).
        """
        mels = [mel for mel, _ in utterances]
        if self._noise is None:
            return stacked(mels)
        mixture = self._mixture
        tonal = np.array([not TONE_NUMBERS.isdisjoint(word) for _, word in utterances])
        liftered = np.where(tonal, 0.0, mixture.liftered)
        return augment(mels, self._noise, mixture.narrow_band, rng, liftered, mixture.noisy)
