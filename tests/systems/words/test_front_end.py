"""The front ends of the networks of words, and which networks share one."""

import numpy as np
import pytest
import soxr

from earshot.pretrained.recogniser import load_states
from earshot.systems.words import Words, front_end
from earshot.systems.words.front_end import LogMel, States, at_level, load_front_end
from tests.systems.words.test_encoder import RATE, buzz

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def states() -> States:
    return States(load_states((3, 6), device="cpu"))


def test_states_of_word_hold_its_pitch(states: States) -> None:
    """There is one more state at each end."""
    frames = states(buzz(256, 256, seconds=0.48))
    assert frames.shape == (20 + 2, 2 * 288 + 2)
    octaves, voiced = frames[5:-5, -2], frames[5:-5, -1]
    assert (voiced == 1).all() and octaves == pytest.approx(1.0, abs=0.05)
    assert (states(np.zeros(RATE // 2, np.float32))[:, -2:] == 0).all()


def test_states_do_not_depend_on_loudness(states: States) -> None:
    word = buzz(120, 180)
    np.testing.assert_allclose(states(at_level(0.3 * word)), states(at_level(word)), atol=1e-3)


def test_states_of_long_recording_stay_alike(
    states: States, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Computed in windows, they are like those of all of it at once."""
    glide = buzz(120, 240, seconds=4)
    whole = states(glide)[:, :-2]
    monkeypatch.setattr(front_end, "WINDOW", 60)
    parts = states(glide)[:, :-2]
    assert parts.shape == whole.shape
    mean = whole.mean(axis=0)
    cosines = cosines_of(parts - mean, whole - mean)
    others = cosines_of(np.roll(parts, 20, axis=0) - mean, whole - mean)
    assert np.median(cosines) > np.median(others) + 0.3


def cosines_of(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The cosine of each row with the same row of the other: (N, D), (N, D) → (N,)."""
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return (one * other).sum(axis=1) / norms


def test_log_mel_front_end_averages_vtlp_views() -> None:
    log_mel = load_front_end({"network": {"pitch": True}}, "cpu")
    assert isinstance(log_mel, LogMel) and len(log_mel.views) == 3


def test_ensemble_networks_share_front_ends() -> None:
    words = Words.from_pretrained("words", "cpu")
    assert len(words._members) == 4 and len(words._front_ends) == 2
    vector = words.embed_waveforms([buzz(120, 180)], once=True)
    alone = Words.from_pretrained("words-states", "cpu").embed_waveforms([buzz(120, 180)])
    assert vector.shape == (1, 1024) and alone.shape == (1, 256)
    np.testing.assert_allclose(2 * vector[:, 512:768], alone, atol=1e-5)


def test_ensemble_embeds_word_in_three_durations() -> None:
    """The networks over states: the mean of their vectors of the word, made shorter and longer. A
    slower recording of the word is nearer so."""
    words, alone = (Words.from_pretrained(name, "cpu") for name in ("words", "words-states"))
    word = buzz(120, 180)
    lasting = [soxr.resample(word, RATE, share * RATE) for share in (0.92, 1.0, 1.08)]
    expected = alone.embed_waveforms(lasting).mean(axis=0)
    vector, once = words.embed_waveforms([word])[0], words.embed_waveforms([word], once=True)[0]
    # The loudness is measured once, in the word's own duration: each alone is a little off.
    np.testing.assert_allclose(2 * vector[512:768], expected / np.linalg.norm(expected), atol=5e-4)
    np.testing.assert_allclose(vector[:512], once[:512], atol=1e-6)
    slower = [soxr.resample(word, RATE, 1.1 * RATE)]
    cosine, cosine_once = (
        float(each @ words.embed_waveforms(slower, only_once)[0])
        for each, only_once in ((vector, False), (once, True))
    )
    assert cosine > cosine_once
