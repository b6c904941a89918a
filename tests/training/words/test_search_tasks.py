"""Recordings to find words in, and the value of what is found."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.support.search_tasks import Query, Task, fluent
from benchmarks.word_search import best_value, judge, own_beta, value
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.words.word_search import Place
from training.common.corpora import Item
from training.words.recordings import AlignedUtterance, AlignedWord
from training.words.test_set import WordType

TREE, SHIP = (WordType("en", tuple(letters)) for letters in ("tɹiz", "ʃɪps"))


def utterance(speaker: str, *words: AlignedWord) -> AlignedUtterance:
    """Two seconds of noise that is loud where a word is."""
    waveform = np.zeros(2 * SAMPLE_RATE, np.float32)
    rng = np.random.default_rng(0)
    for word in words:
        first, last = (round(time * SAMPLE_RATE) for time in (word.start, word.end))
        waveform[first:last] = 0.1 * rng.standard_normal(last - first)
    item = Item("corpus", Path("speech.ogg"), speaker, "test", "")
    return AlignedUtterance(item, waveform, [*words])


def test_fluent_words_lie_where_they_sound() -> None:
    """Short words are no queries, and what would be too long is left out."""
    tree = AlignedWord("trees", TREE.phonemes, 0.5, 1.0)
    ships = AlignedWord("ships", SHIP.phonemes, 1.2, 1.8)
    spoken = [
        utterance("one", tree, AlignedWord("a", ("ə",), 1.1, 1.2)),
        utterance("two", ships),
        utterance("three", tree),
    ]
    task = fluent(spoken, 5.5)
    assert task.source == "fluent English, 3 words by 2 speakers"
    assert {query.word for query in task.queries} == {TREE, SHIP} and task.seconds < 5.5
    for word, start, end in task.places:
        middle = task.waveform[round(start * SAMPLE_RATE) : round(end * SAMPLE_RATE)]
        assert np.abs(middle).mean() > 0.01, word
        before = round((start - 0.05) * SAMPLE_RATE)
        assert word.phonemes == ("ə",) or not task.waveform[before - 100 : before].any()


def test_value_falls_by_misses_and_false_alarms() -> None:
    """TWV = 1 − the mean over words of the share missed and β of the false alarms a second."""
    occurrences = [(TREE, 1.0, 1.4), (TREE, 5.0, 5.4), (SHIP, 8.0, 8.5)]
    task = Task(
        "", np.zeros(100 * SAMPLE_RATE, np.float32), occurrences, [Query(TREE), Query(SHIP)]
    )
    trees = [Place(1.0, 1.5, 0.9), Place(20.0, 20.5, 0.8), Place(5.1, 5.5, 0.7)]
    places = [trees, [Place(8.0, 8.4, 0.6)]]
    beta = own_beta(task)
    assert beta == pytest.approx(0.1 * (100 / 1.5 - 1))
    judged = [judge(task, i, some) for i, some in enumerate(places)]
    assert value(task, judged, beta, 0.75) == pytest.approx(1 - ((0.5 + beta / 98) + (1 + 0)) / 2)
    assert value(task, judged, beta, [0.75, 0.5]) == pytest.approx(1 - (0.5 + beta / 98) / 2)
    best, threshold = best_value(task, places, beta)
    assert best == pytest.approx(1 - (beta / 98) / 2) and threshold == 0.6
