"""Recordings to find words in, with the words that are said in them: strung together, or fluent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from earshot.media.audio.load import match_loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.words.front_end import LEVEL
from training.words.recordings import AlignedUtterance
from training.words.test_set import Recording, TestSet, WordType

PAUSES: Final = (0.1, 0.5)  # seconds between two words, or utterances
QUERIES: Final = 16  # words of a recording that is strung together
FLUENT_QUERIES: Final = 40  # words of fluent speech
MIN_PHONEMES: Final = 4  # of these


@dataclass(frozen=True)
class Query:
    """A word; a recording of it (T,) by another speaker, if there is one; and whether no training
    heard the word."""

    word: WordType
    spoken: np.ndarray | None = None
    is_new: bool = False


@dataclass(frozen=True, eq=False)
class Task:
    """A recording, where it comes from, its words with their times, and the queries."""

    source: str
    waveform: np.ndarray
    places: Sequence[tuple[WordType, float, float]]
    queries: Sequence[Query]

    @property
    def seconds(self) -> float:
        return len(self.waveform) / SAMPLE_RATE

    def middles(self, word: WordType) -> list[float]:
        """Find the middle of each time that the word is said, in seconds."""
        return [(start + end) / 2 for other, start, end in self.places if other == word]


def string_together(test_set: TestSet, seconds: float, zero_shot_too: bool = True) -> Task:
    """String words together in random order, at one level, with pauses; as queries words that are
    said in it, and that another speaker says outside it. zero_shot_too: also the words held out
    from training.
    """
    rng = np.random.default_rng(0)
    chosen = np.flatnonzero(zero_shot_too | ~test_set.zero_shot[test_set.labels])
    order = [test_set.recordings[i] for i in rng.permutation(chosen)]
    parts, places, position = [], [], 0
    rest: list[Recording] = []
    for recording in order:
        if position > seconds * SAMPLE_RATE:
            rest.append(recording)
            continue
        word = match_loudness(recording.waveform, SAMPLE_RATE, LEVEL)
        pause = np.zeros(round(rng.uniform(*PAUSES) * SAMPLE_RATE), np.float32)
        start = position + len(pause)
        position = start + len(word)
        places.append((recording, start / SAMPLE_RATE, position / SAMPLE_RATE))
        parts += [pause, word]
    new = {
        w for w, held_out in zip(test_set.vocabulary, test_set.zero_shot, strict=True) if held_out
    }
    queries: dict[WordType, Query] = {}
    for recording in rest:
        speakers = {r.speaker for r, _, _ in places if r.word == recording.word}
        if speakers and recording.speaker not in speakers and len(queries) < QUERIES:
            word = recording.word
            queries.setdefault(word, Query(word, recording.waveform, word in new))
    waveform = np.concatenate(parts)[: round(seconds * SAMPLE_RATE)]
    times = [(r.word, start, end) for r, start, end in places]
    source = f"strung together from {len(places)} words by speakers that no training heard"
    return Task(source, waveform, times, list(queries.values()))


def fluent(utterances: Iterable[AlignedUtterance], seconds: float) -> Task:
    """String utterances together that fit, at one level, with pauses; as queries words of
    MIN_PHONEMES or more that are said in them, drawn at random.

    Raises SystemExit where there is none.
    """
    rng = np.random.default_rng(0)
    parts, places, position, speakers = [], [], 0, set()
    for utterance in utterances:
        pause = np.zeros(round(rng.uniform(*PAUSES) * SAMPLE_RATE), np.float32)
        start = position + len(pause)
        if start + len(utterance.waveform) > seconds * SAMPLE_RATE:
            continue
        position = start + len(utterance.waveform)
        speakers.add(utterance.item.speaker)
        for word in utterance.words:
            times = (start / SAMPLE_RATE + each for each in (word.start, word.end))
            places.append((WordType("en", word.phonemes), *times))
        parts += [pause, match_loudness(utterance.waveform, SAMPLE_RATE, LEVEL)]
    if not places:
        raise SystemExit("There is no fluent speech whose words are known, or it is too long.")
    words = sorted({word.phonemes for word, _, _ in places if len(word.phonemes) >= MIN_PHONEMES})
    drawn = rng.permutation(len(words))[:FLUENT_QUERIES]
    queries = [Query(WordType("en", words[i])) for i in drawn]
    source = f"fluent English, {len(places)} words by {len(speakers)} speakers"
    return Task(source, np.concatenate(parts), places, queries)
