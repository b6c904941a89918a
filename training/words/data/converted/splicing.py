"""Words that nobody recorded, spliced from recordings of several people and said by one voice.

Concatenated spectra need two recordings of one speaker, and have one joint, which a network can
hear. In the content of any-voice the speakers are alike, and its decoder smooths the joints.

Shapes: T samples, U steps of 20 ms, C width of the content, P phonemes.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.media.text.phonemes import PHONEMES, numbers
from earshot.systems.voice_conversion.intonation import FRAMES_PER_STEP, Intonation
from training.words.data.columns import Columns
from training.words.data.concatenation import HELD_OUT, Word, joints_of
from training.words.data.converted.voices import Converter
from training.words.data.recordings import RecordedWord

SEED: Final = 0
# Arabic has no other words in the voices of people, but those of a poor synthetic voice.
WORDS: Final = {"en": 2000, "ar": 3000, "zh": 1000}
RENDITIONS: Final = 3  # of a word, each of other recordings and in another voice
MIN_PHONEMES, MAX_PHONEMES = 2, 12  # phonemes
DURATION: Final = 80  # steps, at most
MIN_SAMPLES: Final = SAMPLE_RATE // 8  # samples of a recording
ATTEMPTS: Final = 50  # to draw a word
PARTS: Final = (2, 3)  # recordings in a word


@dataclass(frozen=True)
class Part:
    """The phonemes of a recorded word from ``begin`` to before ``end``."""

    word: Word
    begin: int
    end: int


@dataclass(frozen=True, eq=False)
class Take:
    """A recording: its content (U, C), intonation (U,), and the step at which each of its phonemes
    begins, with the end of the recording after the last: (P + 1,)."""

    content: Tensor
    intonation: Intonation
    steps: np.ndarray

    def cut(self, part: Part) -> tuple[Tensor, Intonation]:
        """Cut the content and the intonation of a part, with the silence at an end of the word."""
        begin = int(self.steps[part.begin]) if part.begin else 0
        steps = slice(begin, int(self.steps[part.end]))
        return self.content[steps], self.intonation.at(steps)


def write_spliced(
    data: Path, recordings: Iterable[tuple[RecordedWord, np.ndarray]], path: Path
) -> None:
    """Write WORDS of each language, in RENDITIONS each.

    recordings: those that are trained on, with the frame at which each phoneme begins (P,), 0 where
    the alignment failed.
    """
    rng = np.random.default_rng(SEED)
    columns = Columns()
    converter = Converter(data, CHECKPOINTS / "any-voice")
    takes: dict[str, dict[Word, list[Take]]] = defaultdict(lambda: defaultdict(list))
    for word, starts in recordings:
        if starts.any() and len(word.waveform) >= MIN_SAMPLES:
            phonemes = tuple(numbers(word.phonemes))
            takes[word.item.language][phonemes].append(take_of(converter, word.waveform, starts))
    for language, count in WORDS.items():
        for word, parts in spliced_words(list(takes[language]), count, rng):
            for _ in range(RENDITIONS):
                pools = [takes[language][part.word] for part in parts]
                chosen = [pool[int(rng.integers(len(pool)))] for pool in pools]
                cuts = [take.cut(part) for take, part in zip(chosen, parts, strict=True)]
                content = torch.cat([cut for cut, _ in cuts])[:DURATION]
                intonation = reduce(Intonation.then, (of_cut for _, of_cut in cuts))
                frames = converter.speak(
                    content, intonation.at(slice(DURATION)), converter.any_of(rng)
                )
                columns.append(frames, tuple(PHONEMES[p] for p in word), "", language)
    columns.write(path)


def take_of(converter: Converter, waveform: np.ndarray, starts: np.ndarray) -> Take:
    """Encode a recording (T,) at 16 kHz. starts (P,): the frame at which each phoneme begins."""
    speech = np.pad(waveform, (0, -len(waveform) % (FRAMES_PER_STEP * HOP_LENGTH)))
    content = converter.content(speech)
    steps = np.append(np.round(starts / FRAMES_PER_STEP).astype(int), len(content))
    return Take(content, Intonation.of(track_pitch(speech)), steps)


def spliced_words(
    recorded: Sequence[Word], count: int, rng: np.random.Generator
) -> list[tuple[Word, list[Part]]]:
    """Draw ``count`` different words, none of them recorded or zero-shot, and the parts of each;
    fewer where they are hard to find.
    """
    excluded = {*recorded, *HELD_OUT}
    words: dict[Word, list[Part]] = {}
    for _ in range(ATTEMPTS * count):
        if len(words) == count:
            break
        parts = spliced_parts(recorded, int(rng.choice(PARTS)), rng)
        word = tuple(p for part in parts for p in part.word[part.begin : part.end])
        if word not in excluded and MIN_PHONEMES <= len(word) <= MAX_PHONEMES:
            words.setdefault(word, parts)
    return list(words.items())


def spliced_parts(recorded: Sequence[Word], count: int, rng: np.random.Generator) -> list[Part]:
    """Draw ``count`` parts of recorded words that can be joined; none where those drawn cannot."""
    first = recorded[int(rng.integers(len(recorded)))]
    parts = [Part(first, 0, len(first))]
    while len(parts) < count:
        last, word = parts[-1], recorded[int(rng.integers(len(recorded)))]
        joints = [(i, j) for i, j in joints_of(last.word, word) if i > last.begin]
        if not joints:
            return []
        i, j = joints[int(rng.integers(len(joints)))]
        parts[-1:] = [replace(last, end=i), Part(word, j, len(word))]
    return parts
