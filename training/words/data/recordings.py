"""The recorded words of the corpora, and words cut from sentences."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from earshot.media.audio.load import match_loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.grammar import GRID, grid_phones
from earshot.media.text.phonemes import from_arpabet
from training.common.corpora import (
    DIGIT_VALIDATION_SPEAKERS,
    LEVEL,
    Item,
    grid_words,
    speech_items,
    waveforms,
)
from training.common.zero_shot import PARSERS, is_zero_shot

CORPORA: Final = (
    "free_spoken_digits",
    "google_speech_commands_sample",
    "dspspeech20",
    "arabic_speech_commands",
    "picovoice_wake_words",
)
MARGIN: Final = 0.02  # seconds kept around a word cut from a sentence


@dataclass(frozen=True)
class RecordedWord:
    """A recording of a word: its row of the manifest, waveform (T,) at 16 kHz, and phonemes."""

    item: Item
    waveform: np.ndarray
    phonemes: tuple[str, ...]


def word_items(data: Path) -> list[Item]:
    """List the recordings of the word corpora, all splits."""
    return [item for item in speech_items(data) if item.corpus in CORPORA]


def phonemes_of(item: Item) -> tuple[str, ...]:
    """Parse the phonemes of a recorded word."""
    return PARSERS[item.language](item.phones)


def is_trained_on(item: Item) -> bool:
    """Say whether a recording of the word corpora is for training; zero-shot words never are.

    The speaker of digits who is for validation in the other systems is trained on, without the
    recordings that the corpus calls test: digits then have four training speakers, not three.
    """
    training = item.split == "train" or (
        item.speaker in DIGIT_VALIDATION_SPEAKERS and not item.official_test
    )
    return training and not is_zero_shot(item.language, item.text, phonemes_of(item))


def validation_items(items: list[Item]) -> list[Item]:
    """List the recordings of validation speakers, who are not trained on; no zero-shot words."""
    speakers = {item.speaker for item in items if is_trained_on(item)}
    return [
        item
        for item in items
        if item.split == "val"
        and item.speaker
        and item.speaker not in speakers
        and not is_zero_shot(item.language, item.text, phonemes_of(item))
    ]


def load_recordings(items: list[Item]) -> Iterator[RecordedWord]:
    """Load items of the word corpora with their waveforms."""
    for item, waveform in waveforms(items):
        yield RecordedWord(item, waveform, phonemes_of(item))


def grid_vocabulary() -> set[tuple[str, ...]]:
    """Collect the phonemes of every word of GRID's sentences."""
    return {from_arpabet(phones) for slot in GRID for phones in slot.values()}


def cut_from_sentences(data: Path) -> Iterator[RecordedWord]:
    """Cut the words of GRID's training sentences at its word labels."""
    items = [i for i in speech_items(data) if i.corpus == "grid" and i.split == "train"]
    for item, waveform in waveforms(items):
        phones = grid_phones(item.text)
        for word, (_, start, end) in zip(phones, grid_words(item), strict=True):
            first = round((start - item.start - MARGIN) * SAMPLE_RATE)
            last = round((end - item.start + MARGIN) * SAMPLE_RATE)
            part = waveform[max(first, 0) : last]
            yield RecordedWord(item, match_loudness(part, SAMPLE_RATE, LEVEL), from_arpabet(word))
