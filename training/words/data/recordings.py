"""The recorded words of the corpora, and words cut out of sentences."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from media.audio.features import SAMPLE_RATE
from media.audio.load import match_loudness
from media.text.grammar import GRID, grid_phones
from media.text.phonemes import from_arpabet
from training.common.corpora import (
    DIGIT_VALIDATION_SPEAKERS,
    LEVEL,
    Item,
    grid_words,
    speech_items,
    waveforms,
)
from training.words.data.zero_shot import READERS, is_zero_shot

CORPORA: Final = (
    "free_spoken_digits",
    "google_speech_commands_sample",
    "dspspeech20",
    "arabic_speech_commands",
    "picovoice_wake_words",
)
MARGIN: Final = 0.02  # seconds around a word of a sentence


@dataclass(frozen=True)
class Recorded:
    """A word that somebody said: waveform (T,) at 16 kHz, and who said what."""

    item: Item
    waveform: np.ndarray
    phonemes: tuple[str, ...]


def word_items(data: Path) -> list[Item]:
    """The recordings of the word corpora, every split."""
    return [item for item in speech_items(data) if item.corpus in CORPORA]


def phonemes_of(item: Item) -> tuple[str, ...]:
    """The phonemes of a recorded word."""
    return READERS[item.language](item.phones)


def trained(item: Item) -> bool:
    """Whether a recording of the word corpora may be heard in training.

    That includes the digits that validate in the other rooms, but those that the corpus calls test:
    with them four talkers say digits, not three, and others validate.
    """
    heard = item.split == "train" or (
        item.speaker in DIGIT_VALIDATION_SPEAKERS and not item.official_test
    )
    return heard and not is_zero_shot(item.language, item.text, phonemes_of(item))


def validating(items: list[Item]) -> list[Item]:
    """The recordings of validation speakers, who are not heard in training; no zero-shot words."""
    speakers = {item.speaker for item in items if trained(item)}
    return [
        item
        for item in items
        if item.split == "val"
        and item.speaker
        and item.speaker not in speakers
        and not is_zero_shot(item.language, item.text, phonemes_of(item))
    ]


def recorded(items: list[Item]) -> Iterator[Recorded]:
    """Items of the word corpora with their sound."""
    for item, waveform in waveforms(items):
        yield Recorded(item, waveform, phonemes_of(item))


def grid_vocabulary() -> set[tuple[str, ...]]:
    """The phonemes of every word of GRID's sentences."""
    return {from_arpabet(phones) for slot in GRID for phones in slot.values()}


def cut_from_sentences(data: Path) -> Iterator[Recorded]:
    """The words of GRID's training sentences, by its labels; pauses are left out."""
    items = [i for i in speech_items(data) if i.corpus == "grid" and i.split == "train"]
    for item, waveform in waveforms(items):
        phones = grid_phones(item.text)
        for spoken, (_, start, end) in zip(phones, grid_words(item), strict=True):
            first = round((start - item.start - MARGIN) * SAMPLE_RATE)
            last = round((end - item.start + MARGIN) * SAMPLE_RATE)
            part = waveform[max(first, 0) : last]
            yield Recorded(item, match_loudness(part, SAMPLE_RATE, LEVEL), from_arpabet(spoken))
