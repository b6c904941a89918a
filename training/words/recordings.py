"""Recorded words: of the word corpora, cut from sentences at their labels or by forced alignment,
and words that nobody recorded, concatenated from recordings.

Words of any language are aligned with pocketsphinx' English acoustic model. Alignment only needs
the segment most like each phoneme in turn, so the most similar English phone stands in for each.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

from earshot.media.audio.load import match_loudness
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.media.text.grammar import GRID, grid_phones
from earshot.media.text.phonemes import (
    ARPABET,
    PHONEMES,
    TONES,
    from_arpabet,
    numbers,
    pronunciations,
)
from training.common.corpora import (
    DIGIT_VALIDATION_SPEAKERS,
    LEVEL,
    Item,
    grid_words,
    speech_items,
    waveforms,
)
from training.common.zero_shot import PARSERS, is_zero_shot
from training.judges.sphinx import Segment, Sphinx
from training.words.concatenation import Concatenations, Utterance

CORPORA: Final = (
    "free_spoken_digits",
    "google_speech_commands_sample",
    "dspspeech20",
    "arabic_speech_commands",
    "picovoice_wake_words",
)
CLOSEST_PHONE: Final = {ipa: phone for phone, ipa in ARPABET.items()} | {
    ipa: phone
    for ipa, _, phone in (
        pair.partition(":")
        for pair in (
            "aː:AA iː:IY uː:UW a:AE r:R x:HH q:K ʔ:T ʕ:AA ħ:HH ɣ:G sˤ:S dˤ:D tˤ:T ðˤ:DH pʰ:P tʰ:T "
            "kʰ:K tɕ:JH tɕʰ:CH ɕ:SH ʈʂ:JH ʈʂʰ:CH ʂ:SH ɻ:R t͡s:Z t͡sʰ:S o:AO ɤ:AH e:EH y:IY ɨ:IH"
        ).split()
    )
}
MARGIN: Final = 0.02  # seconds kept around a word that is cut out
MIN_PHONEMES: Final = 3  # "the", "of", "a" are hardly said in fluent speech
MIN_SECONDS: Final = 0.1  # less is none of the words that the app takes
SPELLING: Final = re.compile("[a-z']+")


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


class Aligner:
    """An aligner of words of a vocabulary that is given in advance."""

    def __init__(self, words: Iterable[Sequence[str]]) -> None:
        pronunciations = {_phones(word) for word in words}
        self._sphinx = Sphinx((phones, phones) for phones in pronunciations)

    def starts(self, word: RecordedWord) -> list[int]:
        """Find the frame (10 ms) at which each phoneme begins; a tone begins with its vowel. Empty
        where the alignment fails.
        """
        phones = _phones(word.phonemes)
        segments = self._sphinx.align(word.waveform, [(phones, phones)])
        if [segment.phone for segment in segments] != phones.split():
            return []
        last = len(word.waveform) // HOP_LENGTH
        frames = iter(
            int(np.clip(round(segment.start * SAMPLE_RATE / HOP_LENGTH), 0, last))
            for segment in segments
        )
        starts: list[int] = []
        for phoneme in word.phonemes:
            starts.append(starts[-1] if phoneme in TONES else next(frames))
        return starts


def _phones(phonemes: Sequence[str]) -> str:
    return " ".join(CLOSEST_PHONE[phoneme] for phoneme in phonemes if phoneme not in TONES)


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
    dictionary = pronunciations()
    spelled = [(item, SPELLING.findall(item.text.lower())) for item in items]
    sentences = [
        (item, words) for item, words in spelled if words and all(w in dictionary for w in words)
    ]
    sphinx = Sphinx({(word, dictionary[word]) for _, words in sentences for word in words})
    loaded = waveforms([item for item, _ in sentences])
    for (_, spellings), (item, waveform) in zip(sentences, loaded, strict=True):
        entries = [(word, dictionary[word]) for word in spellings]
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


def unrecorded_words(
    recordings: Sequence[RecordedWord], vocabulary: Collection[tuple[str, ...]], count: int
) -> list[RecordedWord]:
    """Put together ``count`` words outside the vocabulary, each from two of the recordings; always
    the same ones. Their items are those of the first half.

    Raises LookupError where no two recordings can be concatenated.
    """
    aligner = Aligner({word.phonemes for word in recordings})
    aligned = [aligner.starts(word) for word in recordings]
    starts = np.zeros((len(aligned), max(map(len, aligned), default=0)), np.int64)
    for row, frames in zip(starts, aligned, strict=True):
        row[: len(frames)] = frames
    languages = sorted({word.item.language for word in recordings})
    utterances = [
        Utterance(
            number,
            tuple(numbers(word.phonemes)),
            str(word.item.speaker),
            languages.index(word.item.language),
        )
        for number, word in enumerate(recordings)
    ]
    concatenations = Concatenations(
        utterances, starts, {tuple(numbers(word)) for word in vocabulary}
    )
    rng = np.random.default_rng(0)
    words = []
    for _ in range(count):
        phonemes, [parts] = concatenations.draw(1, rng)
        first, second = recordings[parts.first], recordings[parts.second]
        halves = (
            first.waveform[: parts.end * HOP_LENGTH],
            second.waveform[parts.start * HOP_LENGTH :],
        )
        spelled = tuple(PHONEMES[number] for number in phonemes)
        words.append(RecordedWord(replace(first.item, text=""), np.concatenate(halves), spelled))
    return words
