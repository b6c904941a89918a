"""The checks by ear: the noises of that of headphones, and the pairs by which a room is tested."""

import io
import wave

import numpy as np
import pytest

from earshot.study.design.raters import RoomTest
from earshot.study.sounds import checks

KEY, TOKEN = "the-key-of-a-test", "a-token-of-a-rater"


def noises(trial: int) -> np.ndarray:
    """The noises of a trial (3, 2, T)."""
    with wave.open(io.BytesIO(checks.headphone_sound(KEY, TOKEN, trial))) as file:
        assert (file.getnchannels(), file.getframerate()) == (2, checks.RATE)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2).T / 32768
    length = round(checks.NOISE_SECONDS * checks.RATE)
    step = length + round(checks.NOISE_PAUSE * checks.RATE)
    return np.stack([samples[:, n * step : n * step + length] for n in range(3)])


def test_headphone_sound_has_one_antiphase_band() -> None:
    """The band is in one of the three noises."""
    for trial in range(checks.HEADPHONE_TRIALS):
        hidden = checks.hidden_noise(KEY, TOKEN, trial) - 1
        for n, (left, right) in enumerate(noises(trial)):
            frequency = np.fft.rfftfreq(len(left), 1 / checks.RATE)
            product = np.fft.rfft(left) * np.conj(np.fft.rfft(right))
            inside = (
                np.abs(frequency - checks.HIDDEN_TONE)
                < 0.9 * checks.HIDDEN_BAND * checks.HIDDEN_TONE
            )
            outside = (
                np.abs(frequency - checks.HIDDEN_TONE)
                > 1.5 * checks.HIDDEN_BAND * checks.HIDDEN_TONE
            )
            assert np.cos(np.angle(product[outside])).mean() > 0.95
            alike = np.cos(np.angle(product[inside])).mean()
            assert alike < -0.95 if n == hidden else alike > 0.95


def test_headphone_sound_in_ear_is_level() -> None:
    """Either ear alone hears three noises of equal level."""
    for trial in range(checks.HEADPHONE_TRIALS):
        hidden = checks.hidden_noise(KEY, TOKEN, trial) - 1
        levels = 20 * np.log10(np.std(noises(trial), axis=-1))
        assert np.ptp(levels) < 0.5
        left, right = np.abs(np.fft.rfft(noises(trial)[hidden], axis=-1)) ** 2
        frequency = np.fft.rfftfreq(checks.RATE, 1 / checks.RATE)
        band = np.abs(frequency - checks.HIDDEN_TONE) < checks.HIDDEN_BAND * checks.HIDDEN_TONE
        assert abs(10 * np.log10(right[band].sum() / left[band].sum())) < 0.5


def test_headphone_check_fails_at_one_error() -> None:
    """The place of the noise to find varies."""
    places = [checks.hidden_noise(KEY, f"token {n}", n % 12) for n in range(600)]
    assert all(150 < places.count(n) < 250 for n in (1, 2, 3))
    right = [checks.hidden_noise(KEY, TOKEN, trial) for trial in range(6)]
    assert checks.headphones_passed(KEY, TOKEN, right)
    assert not checks.headphones_passed(KEY, TOKEN, right[:-1])
    assert not checks.headphones_passed(KEY, TOKEN, [*right[:-1], right[-1] % 3 + 1])
    assert checks.headphones_passed(
        KEY, TOKEN, [checks.hidden_noise(KEY, TOKEN, t) for t in range(6, 12)], 1
    )


def pair(trial: int) -> np.ndarray:
    """Both sounds of a pair (2, T)."""
    with wave.open(io.BytesIO(checks.room_sound(KEY, TOKEN, trial))) as file:
        assert (file.getnchannels(), file.getframerate()) == (1, checks.RATE)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768
    length = (len(samples) - round(checks.PAIR_PAUSE * checks.RATE)) // 2
    return np.stack([samples[:length], samples[-length:]])


@pytest.mark.parametrize("trial", range(6))
def test_one_tone_has_louder_hiss(trial: int) -> None:
    """The tones are alike, and the hiss behind one of them is 10 dB louder."""
    both = pair(trial)
    more = checks.louder_hiss(KEY, TOKEN, trial) - 1
    part = round(checks.TONE_SECONDS * checks.RATE)
    pauses = [20 * np.log10(np.std(sound[part : 2 * part])) for sound in both]
    assert pauses[more] - pauses[1 - more] == pytest.approx(10, abs=1)
    tones = [20 * np.log10(np.std(sound[:part])) for sound in both]
    assert tones[0] == pytest.approx(tones[1], abs=0.1)
    assert tones[more] - pauses[more] == pytest.approx(checks.HISS_RATIOS[0], abs=2)
    assert np.abs(both).max() < 1


def test_sides_vary_and_rule_decides() -> None:
    """A rater must tell as many pairs apart as the rule says."""
    sides = [checks.louder_hiss(KEY, f"token {n}", n % 8) for n in range(600)]
    assert 250 < sides.count(1) < 350
    right = [checks.louder_hiss(KEY, TOKEN, trial) for trial in range(8)]
    wrong = [3 - answer for answer in right]
    rule = RoomTest(pairs=4, right=3)
    assert checks.room_passed(KEY, TOKEN, [*right[:3], wrong[3]], rule)
    assert not checks.room_passed(KEY, TOKEN, [*right[:2], *wrong[2:4]], rule)
    assert checks.room_passed(KEY, TOKEN, right[4:], rule, 1)
    with pytest.raises(ValueError):
        checks.room_passed(KEY, TOKEN, right[:3], rule)
