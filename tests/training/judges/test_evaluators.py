"""The measures of the evaluation, on small cases whose answer is known."""

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from earshot.media.audio.dtw import path_mean
from earshot.media.text.grammar import DIGITS, GRID, PHONES, grid_phones, phone_ids
from training.judges.abx import PhoneItem, abx
from training.judges.metrics import bitrate, mel_cepstral_distortion, word_error_rate
from training.judges.recogniser import best_words
from training.words.metrics import edit_distance

FRAMES = 8

Tokens = list[tuple[str, str]]  # phone and speaker of each recording


def phone_items(recordings: Tokens) -> list[PhoneItem]:
    """One item a recording, all of its frames: (phone, speaker) each."""
    return [PhoneItem(p, s, i, 0, FRAMES) for i, (p, s) in enumerate(recordings)]


@pytest.fixture
def tokens() -> Tokens:
    return [(p, s) for s in ("one", "two", "three") for p in ("AA", "IY", "S") for _ in range(4)]


def test_abx_of_separate_phones_is_zero(tokens: Tokens) -> None:
    axes = {"AA": 0, "IY": 1, "S": 2}
    rng = np.random.default_rng(0)
    recordings = [np.eye(3)[[axes[p]] * FRAMES] + 0.1 * rng.random((FRAMES, 3)) for p, _ in tokens]
    result = abx(phone_items(tokens), recordings)
    assert (result.across, result.within) == (0.0, 0.0)
    assert result.across_cells == 6 * 6  # ordered phone pairs × ordered speaker pairs
    assert result.within_cells == 6 * 3


def test_abx_of_identical_is_50_percent(tokens: Tokens) -> None:
    """The error of identical frames is 50 percent."""
    result = abx(phone_items(tokens), [np.ones((FRAMES, 3))] * len(tokens))
    assert (result.across, result.within) == (50.0, 50.0)


def test_abx_of_noise_is_near_chance(tokens: Tokens) -> None:
    rng = np.random.default_rng(0)
    recordings = [rng.standard_normal((FRAMES, 20)) for _ in tokens * 4]
    result = abx(phone_items(tokens * 4), recordings)
    assert result.across == pytest.approx(50.0, abs=5.0)


def test_speaker_frames_have_full_abx_across() -> None:
    """The error of frames that tell only the speaker is 100 percent."""
    # One and two swap their phones: X by the other speaker is always nearer to B.
    tokens = [(p, s) for s in ("one", "two") for p in ("AA", "IY") for _ in range(2)]
    recordings = [np.eye(2)[[int(p == "AA") ^ int(s == "one")] * FRAMES] for p, s in tokens]
    result = abx(phone_items(tokens), recordings)
    assert (result.across, result.within) == (100.0, 0.0)


def test_abx_within_needs_two_tokens() -> None:
    """A phone needs two tokens at least."""
    items = phone_items([("AA", "one"), ("IY", "one")])
    assert np.isnan(abx(items, [np.ones((FRAMES, 2))] * 2).within)


def test_bitrate_is_entropy_times_unit_rate() -> None:
    # Shares 1/2, 1/4, 1/4: 1.5 bits each; 8 units in 2 s.
    streams = [np.array([0, 0, 1, 2]), np.array([0, 0, 1, 2])]
    assert bitrate(streams, seconds=2.0) == pytest.approx(1.5 * 8 / 2)
    assert bitrate([np.zeros(5, int)], seconds=1.0) == 0.0


def test_path_mean_of_stretched_is_zero() -> None:
    """A stretched sequence costs nothing on the path."""
    short, long = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 2.0, 3.0, 3.0])
    distances = np.abs(short[:, None] - long[None]).astype(np.float32)
    assert path_mean(distances) == 0.0
    assert path_mean(distances + 1) == pytest.approx(1.0)


def test_distortion_of_equal_spectra_is_zero() -> None:
    """The mel cepstral distortion of equal spectra is zero at any level."""
    log_mel = np.random.default_rng(0).standard_normal((30, 80))
    assert mel_cepstral_distortion(log_mel, log_mel) == pytest.approx(0.0, abs=0.01)
    assert mel_cepstral_distortion(log_mel + 3.0, log_mel) == pytest.approx(0.0, abs=0.01)


def test_distortion_of_cepstrum_is_formula() -> None:
    """The mel cepstral distortion of one cepstrum is the formula."""
    bands = np.arange(80) + 0.5
    tilt = 0.1 * np.cos(np.pi * 3 * bands / 80)
    log_mel = np.random.default_rng(0).standard_normal((1, 80))
    expected = 10 / np.log(10) * np.sqrt(2 * 0.1**2)
    assert mel_cepstral_distortion(log_mel + tilt, log_mel) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("transcript", "edits"), [("abc", 0), ("axcd", 2), ("", 3), ("cab", 2), ("bcd", 2)]
)
def test_edit_distance_is_that_of_rapidfuzz(transcript: str, edits: int) -> None:
    assert edit_distance("abc", transcript) == Levenshtein.distance("abc", transcript) == edits


def test_word_error_rate_counts_all_kinds() -> None:
    references = [["set", "white"], ["lay", "blue"]]
    assert word_error_rate(references, [["set", "red"], []]) == 75.0


def spoken(phones: str, noise: float = 0.0) -> np.ndarray:
    """Log-probabilities that say these phones, two steps each and a blank between."""
    rng = np.random.default_rng(0)
    steps = [0] + [step for phone in phone_ids(phones) for step in (phone, phone, 0)]
    scores = np.eye(len(PHONES) + 1)[steps] * 5 + noise * rng.standard_normal(
        (len(steps), len(PHONES) + 1)
    )
    return scores - np.log(np.exp(scores).sum(1, keepdims=True))


def test_best_words_follow_the_grammar() -> None:
    sentence = "place green with q seven soon"
    phones = " ".join(grid_phones(sentence))
    assert best_words(spoken(phones), GRID) == sentence.split()
    assert best_words(spoken(phones, noise=1.0), GRID) == sentence.split()


def test_best_words_are_in_grammar() -> None:
    """Phones outside the grammar give words in it."""
    phones = "B IH N  B L UW  AE T  EH F  T UH  N AW"  # no digit is T UH
    assert best_words(spoken(phones), GRID) == "bin blue at f two now".split()


@pytest.mark.parametrize("digit", DIGITS)
def test_best_words_of_one_slot(digit: str) -> None:
    assert best_words(spoken(DIGITS[digit]), [DIGITS]) == [digit]


def test_too_few_steps_give_no_words() -> None:
    assert best_words(spoken("AA"), GRID) == []
