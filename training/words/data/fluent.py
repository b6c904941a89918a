"""Words cut from fluent English speech whose text is known, by forced alignment."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np

from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.phonemes import from_arpabet
from earshot.systems.words.dictionary import pronunciations
from training.common.corpora import Item, waveforms
from training.judges.sphinx import Segment, Sphinx
from training.words.data.recordings import RecordedWord

MARGIN: Final = 0.02  # seconds kept around a word
MIN_PHONEMES: Final = 3  # "the", "of", "a" are hardly said in fluent speech
MIN_SECONDS: Final = 0.1  # less is none of the words that the app takes
SPELLING: Final = re.compile("[a-z']+")


@dataclass(frozen=True)
class AlignedWord:
    """A word of an utterance: its spelling and phonemes, and its start and end in seconds."""

    spelling: str
    phonemes: tuple[str, ...]
    start: float
    end: float


@dataclass(frozen=True, eq=False)
class AlignedUtterance:
    """An utterance (T,) at 16 kHz, with its words in the order in which they are said."""

    item: Item
    waveform: np.ndarray
    words: list[AlignedWord]


def fluent_words(items: Iterable[Item]) -> Iterator[RecordedWord]:
    """Cut the words of MIN_PHONEMES or more out of aligned utterances, each with its spelling as
    text.
    """
    for utterance in aligned_utterances(items):
        for word in utterance.words:
            first = max(0, round((word.start - MARGIN) * SAMPLE_RATE))
            part = utterance.waveform[first : round((word.end + MARGIN) * SAMPLE_RATE)]
            if len(word.phonemes) >= MIN_PHONEMES and len(part) >= MIN_SECONDS * SAMPLE_RATE:
                item = replace(utterance.item, text=word.spelling)
                yield RecordedWord(item, part, word.phonemes)


def aligned_utterances(items: Iterable[Item]) -> Iterator[AlignedUtterance]:
    """Find where each word of English utterances is said, by forced alignment. Utterances with a
    word that the dictionary lacks, or whose alignment fails, are left out.
    """
    known = pronunciations()
    spelled = [(item, SPELLING.findall(item.text.lower())) for item in items]
    said = [(item, words) for item, words in spelled if words and all(w in known for w in words)]
    sphinx = Sphinx({(word, known[word]) for _, words in said for word in words})
    loaded = waveforms([item for item, _ in said])
    for (_, spellings), (item, waveform) in zip(said, loaded, strict=True):
        entries = [(word, known[word]) for word in spellings]
        segments = sphinx.align(waveform, entries)
        if [segment.phone for segment in segments] != " ".join(p for _, p in entries).split():
            continue
        words = [
            AlignedWord(word, from_arpabet(phones), parts[0].start, parts[-1].end)
            for (word, phones), parts in zip(entries, _by_word(segments, entries), strict=True)
        ]
        yield AlignedUtterance(item, waveform, words)


def _by_word(
    segments: Sequence[Segment], entries: Iterable[tuple[str, str]]
) -> Iterator[list[Segment]]:
    """Split the phones of an utterance into those of each word."""
    rest = iter(segments)
    for _, phones in entries:
        yield list(islice(rest, len(phones.split())))
