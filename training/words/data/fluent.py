"""Words cut from fluent English speech whose text is known, by forced alignment."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

import numpy as np

from earshot.media.audio.features import SAMPLE_RATE
from earshot.media.text.phonemes import from_arpabet
from earshot.pipelines.words.dictionary import pronunciations
from training.common.corpora import Item, waveforms
from training.judges.sphinx import Segment, Sphinx
from training.words.data.recordings import RecordedWord

MARGIN: Final = 0.02  # seconds kept around a word
MIN_PHONEMES: Final = 3  # "the", "of", "a" are hardly said in fluent speech
MIN_SECONDS: Final = 0.1  # less is none of the words that the app takes
SPELLING: Final = re.compile("[a-z']+")


def fluent_words(items: Iterable[Item]) -> Iterator[RecordedWord]:
    """Cut the words of MIN_PHONEMES or more out of English utterances, each with its spelling as
    text. Utterances with a word that the dictionary lacks, or whose alignment fails, are left out.
    """
    known = pronunciations()
    spelled = [(item, SPELLING.findall(item.text.lower())) for item in items]
    said = [(item, words) for item, words in spelled if words and all(w in known for w in words)]
    sphinx = Sphinx({(word, known[word]) for _, words in said for word in words})
    loaded = waveforms([item for item, _ in said])
    for (_, words), (item, waveform) in zip(said, loaded, strict=True):
        entries = [(word, known[word]) for word in words]
        segments = sphinx.align(waveform, entries)
        if [segment.phone for segment in segments] != " ".join(p for _, p in entries).split():
            continue
        for (word, phones), parts in zip(entries, _by_word(segments, entries), strict=True):
            part = _cut(waveform, parts)
            phonemes = from_arpabet(phones)
            if len(phonemes) >= MIN_PHONEMES and len(part) >= MIN_SECONDS * SAMPLE_RATE:
                yield RecordedWord(replace(item, text=word), part, phonemes)


def _by_word(
    segments: Sequence[Segment], entries: Iterable[tuple[str, str]]
) -> Iterator[list[Segment]]:
    """Split the phones of an utterance into those of each word."""
    rest = iter(segments)
    for _, phones in entries:
        yield list(islice(rest, len(phones.split())))


def _cut(waveform: np.ndarray, parts: Sequence[Segment]) -> np.ndarray:
    first = max(0, round((parts[0].start - MARGIN) * SAMPLE_RATE))
    return waveform[first : round((parts[-1].end + MARGIN) * SAMPLE_RATE)]
