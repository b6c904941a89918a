"""Finding a word in a long recording: paths of phonemes, places, and their files."""

import csv
import io
import itertools
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.exports.words import places_csv, text_grid
from earshot.media.audio.dtw import path_mean, subsequence_means
from earshot.media.audio.load import wav_bytes
from earshot.media.text.phonemes import PHONEMES
from earshot.systems.words import Words, Written
from earshot.systems.words.pronunciation import Pronunciation
from earshot.systems.words.system import decode
from earshot.systems.words.word_search import (
    MARGIN,
    MAX_CANDIDATES,
    MAX_SECONDS_SEARCHED,
    MIN_CANDIDATES,
    LongRecording,
    Place,
    WordSearch,
    keyword_paths,
)

RATE = 16_000
PLACES = (Place(3.0, 3.8, 0.91), Place(1.0, 1.5, 0.8), Place(3.6, 4.2, 0.7))


@pytest.fixture(scope="module")
def search(tiny_checkpoints: Path) -> WordSearch:
    return WordSearch(Words.from_pretrained(tiny_checkpoints / "words", "cpu"))


def posteriors(symbols: list[int], sure: float = 0.9, size: int = 6) -> np.ndarray:
    """Log posteriors that are sure of these symbols, one a step: (S, P)."""
    rows = np.full((len(symbols), size), (1 - sure) / (size - 1), np.float32)
    rows[np.arange(len(symbols)), symbols] = sure
    return np.log(rows)


def by_trying(log_posteriors: np.ndarray, phonemes: list[int]) -> float:
    """The score of the best path, over all paths of the whole of the steps."""
    relative = log_posteriors - log_posteriors.max(axis=1, keepdims=True)
    best = -np.inf
    for path in itertools.product(range(log_posteriors.shape[1]), repeat=len(relative)):
        collapsed = [symbol for symbol, _ in itertools.groupby(path) if symbol]
        if collapsed == phonemes and path[0] and path[-1]:
            best = max(best, sum(row[symbol] for row, symbol in zip(relative, path, strict=True)))
    return best / len(phonemes)


def test_keyword_paths_end_where_word_ends() -> None:
    paths = keyword_paths(posteriors([0, 3, 0, 1, 1, 0, 2, 0, 4, 0]), [1, 2])
    assert int(paths.scores.argmax()) == 6 and paths.scores.max() == 0
    assert paths.starts[6] in (3, 4)
    never = keyword_paths(posteriors([0, 3, 0, 2, 0, 1]), [1, 2])
    assert never.scores.max() < -1


@pytest.mark.parametrize("phonemes", [[1], [1, 2], [1, 1], [2, 1, 2]])
def test_keyword_paths_score_as_best_path(phonemes: list[int]) -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        log_posteriors = np.log(rng.dirichlet(np.ones(3), 5)).astype(np.float32)
        paths = keyword_paths(log_posteriors, phonemes)
        score = max(by_trying(log_posteriors[start:], phonemes) for start in range(5))
        assert paths.scores[-1] == pytest.approx(score, abs=1e-5)
        assert by_trying(log_posteriors[paths.starts[-1] :], phonemes) == pytest.approx(
            score, abs=1e-5
        )


def test_decode_removes_repeats_and_blanks() -> None:
    assert decode(posteriors([0, 1, 1, 0, 1, 2, 2, 0])) == (1, 1, 2)


def test_subsequence_means_agree_with_best_stretch() -> None:
    rng = np.random.default_rng(0)
    distances = rng.random((3, 8)).astype(np.float32)
    costs, starts = subsequence_means(distances)
    exact = np.zeros((4, 12), np.float32) + 1
    exact[:, 5:9] = 1 - np.eye(4, dtype=np.float32)
    best, first = subsequence_means(exact)
    assert int(best.argmin()) == 8 and first[8] == 5 and best[8] == 0
    for end in range(8):
        stretch = np.ascontiguousarray(distances[:, starts[end] : end + 1])
        assert costs[end] >= path_mean(stretch) - 1e-6


def test_search_gives_places_best_first(search: WordSearch) -> None:
    """The places lie apart."""
    rng = np.random.default_rng(0)
    waveform = (0.1 * rng.standard_normal(25 * RATE)).astype(np.float32)
    recording = search.encode((RATE, waveform))
    assert recording.seconds == 25
    for posteriors in recording.log_posteriors:
        assert 25 / len(posteriors) == pytest.approx(0.04, rel=0.01)
        np.testing.assert_allclose(np.exp(posteriors).sum(axis=1), 1, atol=1e-4)
    done: list[float] = []
    spoken = search.words.embed_audio((RATE, waveform), (2.0, 2.6))
    for query in (search.words.embed_text("hello"), spoken):
        places = search(recording, query, limit=20, progress=done.append).places
        assert 0 < len(places) <= 20
        scores = [place.score for place in places]
        assert scores == sorted(scores, reverse=True) and max(scores) <= 1 + 1e-5
        middles = sorted((place.start + place.end) / 2 for place in places)
        assert np.diff(middles).min(initial=1) > 0.05
        assert all(0 <= place.start < place.end <= 25 for place in places)
    assert done and max(done) < 1


def places_of(recording: LongRecording, phonemes: tuple[str, ...]) -> list[Place]:
    """The places of a word where every part sounds like it."""
    words: Any = SimpleNamespace(embed_waveforms=lambda parts, once: np.ones((len(parts), 1)))
    query: Any = Written("", Pronunciation(phonemes, "IPA"), np.ones(1))
    return [*WordSearch(words)(recording, query, limit=200).places]


def test_place_by_one_model_suffices() -> None:
    """Where all sounds alike, the phonemes decide: each of two models recognises the word once."""
    early, late = [0] * 100, [0] * 250
    early[20:26], late[150:156] = [1, 0, 2, 2, 0, 3], [1, 1, 2, 2, 3, 3]
    by_model = (posteriors(early), posteriors(late))
    recording = LongRecording(np.ones(10 * RATE, np.float32), by_model)
    places = places_of(recording, tuple(PHONEMES[1:4]))
    assert len(places) > 2
    assert [place.score for place in places[:2]] == pytest.approx([1, 1])
    starts, ends = zip(*((place.start, place.end) for place in places[:2]), strict=True)
    assert sorted(starts) == pytest.approx([2.0 - MARGIN[0], 6.0 - MARGIN[0]], abs=0.05)
    assert sorted(ends) == pytest.approx([2.6 + MARGIN[1], 6.2 + MARGIN[1]], abs=0.05)
    assert all(place.score < 0.8 for place in places[2:])


def test_unlikely_places_are_not_embedded() -> None:
    """Of places with other phonemes a few are, so that the nearest can be shown."""
    symbols = [1, 0, 2, 0, 3, 0] + [4, 0, 5, 0] * 100
    recording = LongRecording(np.ones(20 * RATE, np.float32), (posteriors(symbols, sure=0.999),))
    embedded: list[int] = []

    def embed(parts: list[np.ndarray], once: bool) -> np.ndarray:
        assert once
        embedded.append(len(parts))
        return np.ones((len(parts), 1))

    words: Any = SimpleNamespace(embed_waveforms=embed)
    query: Any = Written("", Pronunciation(tuple(PHONEMES[1:4]), "IPA"), np.ones(1))
    places = WordSearch(words)(recording, query).places
    assert sum(embedded) == MIN_CANDIDATES
    assert places[0].score == pytest.approx(1) and places[0].start == 0 < places[1].start
    frequent: Any = Written("", Pronunciation(tuple(PHONEMES[4:6]), "IPA"), np.ones(1))
    embedded.clear()
    WordSearch(words)(recording, frequent)
    assert MIN_CANDIDATES < sum(embedded) <= MAX_CANDIDATES


def test_frequent_phoneme_is_found_until_end() -> None:
    """Where more places are equally good than are looked at, none is preferred for being early."""
    log_posteriors = posteriors([0, 1, 0, 2] * 2500)
    recording = LongRecording(np.ones(400 * RATE, np.float32), (log_posteriors,))
    starts = [place.start for place in places_of(recording, (PHONEMES[1],))]
    assert len(starts) > 50
    assert np.histogram(starts, 4, (0, 400))[0].min() > 10


@pytest.mark.parametrize(("count", "matches"), [(1, False), (2, False), (3, True)])
def test_short_word_needs_higher_score(count: int, matches: bool) -> None:
    """One or two phonemes are spoken everywhere."""
    recording = LongRecording(np.ones(RATE, np.float32), (posteriors([0, 1, 2, 3, 0] * 5),))
    words: Any = SimpleNamespace(embed_waveforms=lambda parts, once: np.full((len(parts), 1), 0.35))
    query: Any = Written("", Pronunciation(tuple(PHONEMES[1 : 1 + count]), "IPA"), np.ones(1))
    places = WordSearch(words)(recording, query)
    assert places.places and bool(places.matches) == matches


def test_word_of_too_many_phonemes_is_nowhere() -> None:
    recording = LongRecording(np.ones(RATE, np.float32), (posteriors([0, 1] * 12),))
    assert places_of(recording, tuple(PHONEMES[1:3]) * 15) == []


@pytest.mark.parametrize("seconds", [0.3, 1.0])
def test_search_in_short_recording_succeeds(search: WordSearch, seconds: float) -> None:
    tone = 0.1 * np.sin(np.arange(round(seconds * RATE)) / 5)
    recording = search.encode((RATE, tone.astype(np.float32)))
    search(recording, search.words.embed_text("extraordinarily"))


def test_unsearchable_recording_says_why(search: WordSearch, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no recording to search in"):
        search.encode(None)
    with pytest.raises(InputError, match="silent"):
        search.encode((RATE, np.zeros(RATE, np.float32)))
    hour = tmp_path / "hour.wav"
    hour.write_bytes(wav_bytes(np.zeros(3600 * 4000, np.float32), 4000))
    with pytest.raises(InputError, match="longer than 600 s"):
        search.encode(hour)
    assert MAX_SECONDS_SEARCHED == 600


def test_places_csv_is_in_time_order() -> None:
    """It runs no formula."""
    rows = list(csv.DictReader(io.StringIO(places_csv(PLACES, "=HYPERLINK()"))))
    assert [row["start"] for row in rows] == ["1.000", "3.000", "3.600"]
    assert rows[0] == {"word": "'=HYPERLINK()", "start": "1.000", "end": "1.500", "score": "0.8000"}


def test_text_grid_covers_recording_without_overlap() -> None:
    text = text_grid(PLACES, 'sa"y\n', 5.0)
    assert text.startswith('File type = "ooTextFile"\nObject class = "TextGrid"\n')
    assert 'name = "sa""y"' in text
    times = [(float(a), float(b)) for a, b in re.findall(r"xmin = (\S+)\n +xmax = (\S+)\n", text)]
    tier, intervals = times[0], times[1:]
    assert tier == (0, 5.0) and intervals[0][0] == 0 and intervals[-1][1] == 5.0
    assert all(a[1] == b[0] for a, b in itertools.pairwise(intervals))
    assert f"intervals: size = {len(intervals)}" in text and len(intervals) == 6
    assert "intervals: size = 1\n" in text_grid([], "word", 5.0)
