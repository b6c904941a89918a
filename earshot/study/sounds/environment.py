"""Whether a rater's room is quiet enough, and their sound loud enough, to hear what differs.

Pairs of the same tones, with a hiss behind them that is fainter in one: whoever sits in noise, or
listens too softly, hears neither and guesses. After the environment test of ITU-T P.808 (2021) with
signal-to-noise ratios of Naderi and Cutler, An open source implementation of ITU-T Recommendation
P.808 (2020): 40 against 50 dB.
"""

import hmac
import io
import wave
from collections.abc import Sequence
from typing import Final

import numpy as np

from earshot.study.design.sitting import RoomTest

ATTEMPTS: Final = 2  # for those who can go to a quieter place
RATE: Final = 16_000  # Hz
LEVEL: Final = 0.07  # RMS of the tones, -23 dB: as loud as speech
RATIOS: Final = (40.0, 50.0)  # dB from the tones to the hiss, of which the first is heard better
TONES: Final = 3  # in each sound of a pair, with pauses in which the hiss is alone
SECONDS: Final = 0.3  # of a tone, and of the pause after it
PAUSE: Final = 0.5  # s between both sounds
FADE: Final = 0.03  # s at both ends of a tone
PARTIALS: Final = 12
PITCHES: Final = (110.0, 220.0)  # Hz, between which those of a pair lie


def hissing(key: str, token: str, trial: int) -> int:
    """Say which of a pair has more hiss, from 1: the same for a rater at every request.

    key: the test's, which no rater knows; with the token alone the answers could be computed.
    """
    return 1 + _digest(key, token, trial)[0] % 2


def passed(key: str, token: str, answers: Sequence[int], room: RoomTest, attempt: int = 0) -> bool:
    """Say whether enough pairs of an attempt were told apart."""
    trials = range(attempt * room.pairs, (attempt + 1) * room.pairs)
    given = zip(answers, trials, strict=True)
    return sum(answer == hissing(key, token, trial) for answer, trial in given) >= room.right


def sound(key: str, token: str, trial: int) -> bytes:
    """Make a pair, one after the other, as a WAV file."""
    random = np.random.default_rng(list(_digest(key, token, trial)[1:]))
    tones, more = _tones(random), hissing(key, token, trial)
    pause = np.zeros(round(PAUSE * RATE))
    both = [_hissed(tones, RATIOS[0 if place == more else 1], random) for place in (1, 2)]
    samples = np.round(32767 * np.concatenate([both[0], pause, both[1]]))
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()


def _tones(random: np.random.Generator) -> np.ndarray:
    """Make tones like vowels (T,), the RMS of which is LEVEL while they sound."""
    time = np.arange(round(SECONDS * RATE)) / RATE
    ramp = np.clip(time / FADE, 0, 1) * np.clip((SECONDS - time) / FADE, 0, 1)
    parts = []
    for pitch in random.uniform(*PITCHES, TONES):
        tone = sum(np.sin(2 * np.pi * pitch * k * time) / k for k in range(1, PARTIALS + 1))
        tone = LEVEL * tone / np.sqrt(np.mean(tone**2))
        parts += [ramp * tone, np.zeros(len(time))]
    return np.concatenate(parts)


def _hissed(tones: np.ndarray, ratio: float, random: np.random.Generator) -> np.ndarray:
    """Add white noise that lies so many dB under the tones."""
    return tones + LEVEL * 10 ** (-ratio / 20) * random.standard_normal(len(tones))


def _digest(key: str, token: str, trial: int) -> bytes:
    return hmac.digest(key.encode(), f"environment {token} {trial}".encode(), "sha256")
