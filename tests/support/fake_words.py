"""Word embeddings without a network, for tests: words of like phonemes lie side by side, and every
spoken word is a tone of its own, so that a recording of it is known again."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.core.errors import InputError
from earshot.media.audio.load import load, wav_bytes
from earshot.systems.words import Guess, Neighbour, Spoken, Written
from earshot.systems.words.library import LibraryWord, View
from earshot.systems.words.pronunciation import Pronunciation
from earshot.systems.words.spoken_word import CutNeededError

RATE: Final = 16_000
DIMENSIONS: Final = 32
VOICES: Final = ("slt", "awb", "kal16")
SPOKEN: Final = {
    "tree": "t ɹ iː",
    "three": "θ ɹ iː",
    "ship": "ʃ ɪ p",
    "sheep": "ʃ iː p",
    "cat": "k æ t",
    "bat": "b æ t",
    "apple": "æ p ə l",
    "yellow": "j ɛ l oʊ",
    "no": "n oʊ",
    "yes": "j ɛ s",
    "water": "w ɔː t ɚ",
    "zoo": "z uː",
}
WRITTEN: Final = SPOKEN | {"threat": "θ ɹ ɛ t", "cap": "k æ p", "shape": "ʃ eɪ p", "key": "k iː"}


class FakeLibrary:
    """Every word of SPOKEN in every voice, and all of WRITTEN; sounds lie in folder/words."""

    same_word_share = 0.9

    def __init__(self, folder: Path) -> None:
        self.fingerprint = "fake"
        spoken = [
            LibraryWord(
                f"{spelling}-{voice}",
                spelling,
                tuple(phonemes.split()),
                "English",
                voice,
                write_word(folder / "words" / f"{spelling}-{voice}.wav", spelling),
            )
            for spelling, phonemes in SPOKEN.items()
            for voice in VOICES
        ]
        written = [
            LibraryWord(f"{spelling}-", spelling, tuple(p.split()), "English", None, None)
            for spelling, p in WRITTEN.items()
        ]
        self.words = (*spoken, *written)
        vectors = [vector(word.phonemes, f"{word.spelling} {word.voice}") for word in self.words]
        self.vectors = np.stack(vectors).astype(np.float32)
        self.spoken = np.arange(len(spoken))
        self.written = np.arange(len(spoken), len(self.words))
        self.trustworthiness = {"pca": 0.81, "tsne": 0.96}

    def places(self, layout: str) -> np.ndarray:
        """Place the words: (N, 2) in [0, 1]."""
        return np.stack([self.place(row, layout) for row in self.vectors])

    def place(self, vector: np.ndarray, layout: str) -> tuple[float, float]:
        first = 2 if layout == "tsne" else 0
        x, y = 0.5 + 0.49 * np.tanh(2 * vector[first : first + 2])
        return float(x), float(y)


class FakeWords:
    """Answers like earshot.systems.words.Words."""

    threshold = 0.6
    fingerprint = "fake"
    operating_curve: Any = None

    def embed_audio(self, audio: str | Path, cut: tuple[float, float] | None = None) -> Spoken:
        loaded = load(audio, RATE)
        waveform = loaded.waveform
        loud = np.flatnonzero(np.abs(waveform) > 0.01)
        if not len(loud):
            raise InputError("The recording is silent.", "Check that the right microphone is on.")
        pauses = np.flatnonzero(np.diff(loud) > 0.6 * RATE)
        if len(pauses) and not cut:
            ends = [loud[0], *np.stack([loud[pauses], loud[pauses + 1]], axis=1).ravel(), loud[-1]]
            cuts = tuple((a / RATE, b / RATE) for a, b in zip(ends[::2], ends[1::2], strict=True))
            raise CutNeededError(f"There are {len(cuts)} words. Say one.", waveform, cuts)
        start, end = cut or (float(loud[0]) / RATE, float(loud[-1] + 1) / RATE)
        if end - start < 0.1:
            raise InputError("The word is too short (less than 0.1 s). Say it again.")
        if end - start > 3:
            raise InputError("This is longer than one word (more than 3 s). Say one word.")
        part = waveform[round(start * RATE) : round(end * RATE)]
        pitch = np.argmax(np.abs(np.fft.rfft(part))) / (end - start)
        spelling = min(SPOKEN, key=lambda word: abs(tone(word) - pitch))
        phonemes = tuple(SPOKEN[spelling].split())
        spoken = vector(phonemes, f"{spelling} visitor")
        return Spoken(waveform, start, end, spoken, loaded.notices)

    def embed_text(self, text: str) -> Written:
        text = text.strip()
        if not any(letter.isalpha() for letter in text):
            raise InputError("Type a word in letters, for example tree.")
        if len(text) > 40:
            raise InputError("This is too long for a word: at most 40 letters.")
        word = WRITTEN.get(text.lower())
        phonemes = tuple(word.split()) if word else tuple(text.lower().strip("/").replace(" ", ""))
        source = "dictionary" if word else "IPA" if text.startswith("/") else "guess"
        return Written(text, Pronunciation(phonemes, source), vector(phonemes))

    def nearest(
        self, library: FakeLibrary, vector: np.ndarray, view: View, limit: int = 10
    ) -> tuple[Neighbour, ...]:
        rows = library.spoken if view == "spoken" else library.written
        cosines = library.vectors[rows] @ vector
        best = np.argsort(-cosines, kind="stable")[:limit]
        return tuple(Neighbour(library.words[rows[i]], float(cosines[i])) for i in best)

    def guess(
        self, library: FakeLibrary, spoken: Spoken, also: Sequence[Written] = ()
    ) -> tuple[Guess, ...]:
        near = [
            (n.word.spelling, n.word.phonemes, n.cosine)
            for n in self.nearest(library, spoken.vector, "written", 3)
        ] + [(w.spelling, w.pronunciation.phonemes, float(w.vector @ spoken.vector)) for w in also]
        shares = np.exp([10 * cosine for *_, cosine in near])
        shares *= 0.9 / shares.sum()
        pairs = zip(near, shares.tolist(), strict=True)
        return tuple(Guess(spelling, phonemes, share) for (spelling, phonemes, _), share in pairs)


def getters(folder: Path) -> tuple[Callable[[], FakeWords], Callable[[], FakeLibrary]]:
    """Return what gives the pipeline and what gives the library, as the tab's parts take them."""
    words, library = FakeWords(), FakeLibrary(folder)
    return lambda: words, lambda: library


def tone(spelling: str) -> float:
    """Return the pitch (Hz) that the word is "spoken" at."""
    return 200.0 + 40.0 * list(SPOKEN).index(spelling)


def write_word(path: Path, spelling: str, seconds: float = 0.5) -> Path:
    """Write a WAV file of the word: its tone, after 0.2 s of silence and before as much."""
    path.parent.mkdir(parents=True, exist_ok=True)
    wave = 0.3 * np.sin(2 * np.pi * tone(spelling) * np.arange(round(seconds * RATE)) / RATE)
    path.write_bytes(wav_bytes(np.pad(wave, round(0.2 * RATE)).astype(np.float32), RATE))
    return path


def vector(phonemes: tuple[str, ...], shift: str = "") -> np.ndarray:
    """Return a unit vector (D,) of the phonemes in their places, moved a little by what `shift`
    says."""
    parts = [_noise(f"{symbol}{min(i, 2)}") for i, symbol in enumerate(phonemes)]
    whole = np.sum(parts, axis=0) + (0.4 * _noise(shift) if shift else 0)
    return (whole / np.linalg.norm(whole)).astype(np.float32)


def _noise(name: str) -> np.ndarray:
    return np.random.default_rng(list(name.encode())).standard_normal(DIMENSIONS)
