"""The synthetic words: lists, voices, recordings, index."""

import csv
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.media.audio.load import loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.phonemes import PHONEMES
from earshot.systems.words.library import COLUMNS, WordLibrary, read_words
from synthetic.words import WORDS, Word, english, spoken_words
from synthetic.words.__main__ import file_name
from synthetic.words.index import frequent_words, make_index
from synthetic.words.voices import ESPEAK, FLITE, LOUDNESS, speak, voices, write

pytestmark = pytest.mark.slow

MAX_WORDS_BYTES = 5 * 2**20


@pytest.fixture(scope="module")
def words() -> list[Word]:
    return spoken_words()


def test_spoken_words_have_known_phonemes(words: list[Word]) -> None:
    """Spoken words are distinct."""
    assert Counter(word.language for word in words)["English"] >= 400
    assert len({(word.language, word.spelling) for word in words}) == len(words)
    assert len({file_name(word.spelling).lower() for word in words}) == len(words)
    for word in words:
        assert word.phonemes and set(word.phonemes) <= set(PHONEMES)
        assert bool(word.gloss) == (word.language != "English")


def test_minimal_pairs_differ_in_pronunciation(words: list[Word]) -> None:
    pronunciations = {word.spelling: word.phonemes for word in words}
    for pair in english.PAIRS.split(", "):
        one, other = pair.split()
        assert pronunciations[one] != pronunciations[other]


def test_voices_are_used_in_turn(words: list[Word]) -> None:
    counts: Counter[str] = Counter()
    for number, word in enumerate(words):
        chosen = voices(number, word)
        assert len(set(chosen)) == len(chosen) == (3 if word.language == "English" else 2)
        counts.update(chosen)
    assert set(counts) == {*FLITE, *ESPEAK}
    assert min(counts.values()) > 200


@pytest.mark.parametrize(
    "voice",
    [
        "espeak man",
        pytest.param(
            "slt",
            marks=pytest.mark.skipif(not shutil.which("flite"), reason="flite is not installed"),
        ),
    ],
)
def test_spoken_word_has_right_loudness(voice: str, tmp_path: Path) -> None:
    """Speaking gives a short word."""
    waveform = speak(Word("English", "coffee", (), "coffee"), voice)
    assert 0.25 < len(waveform) / SAMPLE_RATE < 1
    assert abs(loudness(waveform, SAMPLE_RATE) - LOUDNESS) < 3
    assert np.abs(waveform).max() < 0.9
    write(tmp_path / "word.ogg", waveform)
    sound, rate = soundfile.read(tmp_path / "word.ogg")
    assert abs(len(sound) / rate - len(waveform) / SAMPLE_RATE) < 0.05
    assert (tmp_path / "word.ogg").stat().st_size < 6000


def test_recordings_match_the_lists(words: list[Word]) -> None:
    """Those of the lists, no others, each short and neither silent nor clipped."""
    recorded = read_words(WORDS / "words.csv", WORDS)
    expected = {
        (word.language, word.spelling, voice): (word.phonemes, word.gloss)
        for number, word in enumerate(words)
        for voice in voices(number, word)
    }
    assert {(w.language, w.spelling, w.voice): (w.phonemes, w.gloss) for w in recorded} == expected
    assert {word.path for word in recorded} == set(WORDS.glob("*.ogg"))
    assert sum(path.stat().st_size for path in WORDS.glob("*.ogg")) <= MAX_WORDS_BYTES
    for word in recorded[::20]:
        waveform, rate = soundfile.read(str(word.path))
        assert waveform.ndim == 1 and 0.1 < len(waveform) / rate < 1.8
        assert 0.05 < np.abs(waveform).max() < 1


def test_frequent_words_are_common_and_unambiguous() -> None:
    words = dict(frequent_words(500))
    assert len(words) == 500
    assert {"people", "about"} <= set(words)
    assert "xylophone" not in words
    assert words["people"] == ("p", "i", "p", "ə", "l")


def test_make_index_writes_library_that_opens(tiny_checkpoints: Path, tmp_path: Path) -> None:
    sounds = tmp_path / "words"
    sounds.mkdir()
    chosen = "tree three cat bat ship sheep pin pen".split()
    some = [word for word in spoken_words() if word.spelling in chosen]
    with open(sounds / "words.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for word in some:
            for voice in ESPEAK:
                name = f"{word.spelling}-{voice}.ogg"
                write(sounds / name, speak(word, voice))
                phonemes = " ".join(word.phonemes)
                rows.writerow([name, word.spelling, phonemes, word.language, "", voice])
    index = make_index(tiny_checkpoints / "words", sounds, tmp_path / "words.index", frequent=20)
    library = WordLibrary.open(tmp_path / "words.index", index.fingerprint)
    assert len(library.spoken) == 16 and len(library.written) == 28
    assert len({word.id for word in library.words}) == 44
    assert all(word.path and word.path.exists() for word in library.words if word.voice)
    assert np.allclose(np.linalg.norm(library.vectors, axis=1), 1, atol=2e-3)
    assert set(library.trustworthiness) == {"pca", "tsne"}
    for layout in ("pca", "tsne"):
        places = library.places(layout)
        assert places.shape == (44, 2) and np.isfinite(places).all()
        assert places.min() >= 0 and places.max() <= 1
        assert 0 < library.trustworthiness[layout] <= 1
