"""Words, recorded and synthetic, as arrays of log-mel frames: what training reads."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path
from typing import Final

import numpy as np

from media.audio.features import N_MELS, SAMPLE_RATE, log_mel
from media.audio.load import load, match_loudness
from media.text.phonemes import numbers
from training.common.corpora import LEVEL
from training.sound_search.data.corpus import real_clips
from training.sound_search.train.train import TRAINING_FOLDS
from training.words.data.alignment import Aligner
from training.words.data.lexicon import Word, arabic, english, mandarin
from training.words.data.recordings import (
    Recorded,
    cut_from_sentences,
    grid_vocabulary,
    phonemes_of,
    recorded,
    trained,
    validating,
    word_items,
)
from training.words.data.synthesis import Rendition, as_spoken, rendition, speak

SEED: Final = 0
RENDITIONS: Final = 5  # of a synthetic word, each by another voice
MANDARIN: Final = 3500  # words
ARABIC: Final = 3500
SHARDS: Final = 8
PROCESSES: Final = 2
LONGEST: Final = 30  # phonemes of a recorded phrase, at most
NOISE: Final = 5 * SAMPLE_RATE  # samples of each everyday sound
LANGUAGES: Final = ("en", "ar", "zh")


@dataclass
class Columns:
    """Words side by side: frames in a row, phoneme numbers padded with 0."""

    frames: list[np.ndarray] = field(default_factory=list)  # each (S, N_MELS)
    phonemes: list[list[int]] = field(default_factory=list)
    speakers: list[str] = field(default_factory=list)
    languages: list[int] = field(default_factory=list)
    validation: list[bool] = field(default_factory=list)

    def add(
        self,
        waveform: np.ndarray,
        phonemes: tuple[str, ...],
        speaker: str,
        language: str,
        validation: bool = False,
    ) -> None:
        """Append a word; its waveform is (T,) at 16 kHz."""
        self.frames.append(log_mel(waveform).astype(np.float16))
        self.phonemes.append(numbers(phonemes))
        self.speakers.append(speaker)
        self.languages.append(LANGUAGES.index(language))
        self.validation.append(validation)

    def write(self, path: Path) -> None:
        """Write the arrays; a half-written file never has the name ``path``."""
        padded = np.zeros((len(self.phonemes), LONGEST), np.uint8)
        for row, word in zip(padded, self.phonemes, strict=True):
            row[: len(word)] = word
        unfinished = path.with_suffix(".new.npz")
        np.savez(
            unfinished,
            frames=np.concatenate(self.frames),
            lengths=np.array([len(f) for f in self.frames]),
            phonemes=padded,
            speakers=np.array(self.speakers),
            languages=np.array(self.languages, np.uint8),
            validation=np.array(self.validation),
        )
        unfinished.replace(path)


def prepare(data: Path, out: Path) -> None:
    """Write recorded.npz with starts.npy, synthetic-0.npz … and noise.npz; resumes."""
    out.mkdir(parents=True, exist_ok=True)
    if not (out / "recorded.npz").exists():
        _recorded(data, out / "recorded.npz")
    if not (out / "starts.npy").exists():
        _aligned(data, out / "starts.npy")
    if not (out / "noise.npz").exists():
        np.savez(out / "noise.npz", frames=_noise(data))
    plan = renditions()
    shards = [(plan[i::SHARDS], out / f"synthetic-{i}.npz") for i in range(SHARDS)]
    with Pool(PROCESSES) as pool:
        for path in pool.imap_unordered(_synthetic, shards):
            print(path, flush=True)


def renditions() -> list[Rendition]:
    """Every synthetic word by RENDITIONS voices, in random order, the same for the same seed."""
    rng = np.random.default_rng(SEED)
    words: list[Word] = [
        *as_spoken(english(rng)),
        *mandarin(MANDARIN, rng),
        *arabic(ARABIC, rng),
    ]
    plan = [rendition(word, rng) for word in words for _ in range(RENDITIONS)]
    return [plan[i] for i in rng.permutation(len(plan))]


def _recorded(data: Path, path: Path) -> None:
    """Words that training may hear, and those of validation speakers."""
    columns = Columns()
    for word, speaker, validation in _everyone(data):
        columns.add(word.waveform, word.phonemes, speaker, word.item.language, validation)
    columns.write(path)


def _aligned(data: Path, path: Path) -> None:
    """The frames at which the phonemes of the words of _recorded begin, in their order."""
    known = {phonemes_of(item) for item in word_items(data)} | grid_vocabulary()
    aligner = Aligner(known)
    starts = [aligner.starts(word) for word, _, _ in _everyone(data)]
    padded = np.zeros((len(starts), LONGEST), np.uint16)
    for row, frames in zip(padded, starts, strict=True):
        row[: len(frames)] = frames
    np.save(path, padded)


def _everyone(data: Path) -> Iterator[tuple[Recorded, str, bool]]:
    """Every recorded word with its speaker, and whether it validates."""
    items = word_items(data)
    for number, word in enumerate(recorded([i for i in items if trained(i)])):
        # Nobody knows who said a wake word: each is somebody else's.
        yield word, word.item.speaker or f"{word.item.corpus} {number}", False
    for word in recorded(validating(items)):
        yield word, str(word.item.speaker), True
    for word in cut_from_sentences(data):
        yield word, str(word.item.speaker), False


def _synthetic(shard: tuple[list[Rendition], Path]) -> Path:
    plan, path = shard
    if path.exists():
        return path
    columns = Columns()
    for what in plan:
        word = what.word
        columns.add(speak(what), word.phonemes, " ".join(what.voice[:3]), word.language)
    columns.write(path)
    return path


def _noise(data: Path) -> np.ndarray:
    """Frames of everyday sounds, folds 1 to 3: (clips, S, N_MELS)."""
    clips = [clip.source for clip in real_clips(data) if clip.fold in TRAINING_FOLDS]
    sounds = [load(path, SAMPLE_RATE).waveform[:NOISE] for path in clips if isinstance(path, Path)]
    frames = [log_mel(match_loudness(sound, SAMPLE_RATE, LEVEL)) for sound in sounds]
    longest = max(map(len, frames))
    return np.stack([np.resize(f, (longest, N_MELS)) for f in frames]).astype(np.float16)
