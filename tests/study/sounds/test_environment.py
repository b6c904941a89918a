"""The pairs by which a rater's room is tested."""

import io
import wave

import numpy as np
import pytest

from earshot.study.design.raters import RoomTest
from earshot.study.sounds import checks

KEY, TOKEN = "the-key-of-a-test", "a-token-of-a-rater"


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
