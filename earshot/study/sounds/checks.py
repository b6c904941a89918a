"""Checks that a rater does by ear before the trials: of their headphones, and of their room.

Headphones, by Huggins' pitch: three noises, the same at both ears but for one, whose narrow band is
turned over at the right ear. With a sound for each ear alone a faint tone is audible in it, and
through loudspeakers hardly ever (Milne et al., An online headphone screening test based on dichotic
pitch, 2021).

The room, and the level: pairs of the same tones, with a hiss behind them that is fainter in one. In
noise, or too softly, one notices neither and guesses. After the environment test of ITU-T P.808
(2021) with signal-to-noise ratios of Naderi and Cutler, An open source implementation of ITU-T
Recommendation P.808 (2020): 40 against 50 dB.

Answers follow from the test's key, which no rater knows, and the rater's token: they are the same
at every request.
"""

import hmac
import io
import wave
from collections.abc import Sequence
from typing import Final

import numpy as np

from earshot.study.design.raters import RoomTest

RATE: Final = 16_000  # Hz
MAX_ATTEMPTS: Final = 2  # for those who forgot their headphones, or can go to a quieter place

HEADPHONE_TRIALS: Final = 6
NOISES: Final = 3
NOISE_SECONDS: Final = 1.0
NOISE_PAUSE: Final = 0.3  # s between two
NOISE_LEVEL: Final = 0.05  # RMS, -26 dB: about as loud as speech
NOISE_FADE: Final = 0.02  # s at both ends of a noise
HIDDEN_TONE: Final = 600.0  # Hz
HIDDEN_BAND: Final = 0.06  # of the tone's frequency to either side

HISS_RATIOS: Final = (40.0, 50.0)  # dB from the tones to the hiss; the first is heard better
TONES: Final = 3  # in each sound of a pair, with pauses in which the hiss is alone
TONE_SECONDS: Final = 0.3  # of a tone, and of the pause after it
TONE_LEVEL: Final = 0.07  # RMS, -23 dB: as loud as speech
TONE_FADE: Final = 0.03  # s at both ends of a tone
PAIR_PAUSE: Final = 0.5  # s between both sounds
PARTIALS: Final = 12
PITCHES: Final = (110.0, 220.0)  # Hz, between which those of a pair lie


def hidden_noise(key: str, token: str, trial: int) -> int:
    """Choose which of the three noises hides the tone, from 1."""
    return 1 + _digest("headphones", key, token, trial)[0] % NOISES


def headphones_passed(key: str, token: str, answers: Sequence[int], attempt: int = 0) -> bool:
    """Whether the tone was found in every trial of an attempt, the strictest of the authors'
    criteria.
    """
    trials = range(attempt * HEADPHONE_TRIALS, (attempt + 1) * HEADPHONE_TRIALS)
    return [*answers] == [hidden_noise(key, token, trial) for trial in trials]


def headphone_sound(key: str, token: str, trial: int) -> bytes:
    """Make the three noises of a trial as a WAV file for two ears."""
    random = np.random.default_rng(list(_digest("headphones", key, token, trial)[1:]))
    pause = np.zeros((2, round(NOISE_PAUSE * RATE)))
    noises = [_noise(random, n + 1 == hidden_noise(key, token, trial)) for n in range(NOISES)]
    parts = [part for noise in noises for part in (noise, pause)][:-1]
    return _wav(np.concatenate(parts, axis=1))


def louder_hiss(key: str, token: str, trial: int) -> int:
    """Choose which of a pair has more hiss, from 1."""
    return 1 + _digest("environment", key, token, trial)[0] % 2


def room_passed(
    key: str, token: str, answers: Sequence[int], room: RoomTest, attempt: int = 0
) -> bool:
    """Whether enough pairs of an attempt were distinguished."""
    trials = range(attempt * room.pairs, (attempt + 1) * room.pairs)
    pairs = zip(answers, trials, strict=True)
    return sum(answer == louder_hiss(key, token, trial) for answer, trial in pairs) >= room.right


def room_sound(key: str, token: str, trial: int) -> bytes:
    """Make a pair, one after the other, as a WAV file."""
    random = np.random.default_rng(list(_digest("environment", key, token, trial)[1:]))
    tones, louder = _tones(random), louder_hiss(key, token, trial)
    both = [_add_hiss(tones, HISS_RATIOS[0 if n == louder else 1], random) for n in (1, 2)]
    return _wav(np.concatenate([both[0], np.zeros(round(PAIR_PAUSE * RATE)), both[1]])[None])


def _noise(random: np.random.Generator, tonal: bool) -> np.ndarray:
    """Draw noise for both ears (2, T)."""
    left = random.standard_normal(round(NOISE_SECONDS * RATE))
    spectrum = np.fft.rfft(left)
    frequency = np.fft.rfftfreq(len(left), 1 / RATE)
    if tonal:
        spectrum[np.abs(frequency - HIDDEN_TONE) <= HIDDEN_BAND * HIDDEN_TONE] *= -1
    right = np.fft.irfft(spectrum, len(left))
    ramp = np.clip(np.arange(len(left)) / (NOISE_FADE * RATE), 0, 1)
    return NOISE_LEVEL * np.stack([left, right]) * ramp * ramp[::-1]


def _tones(random: np.random.Generator) -> np.ndarray:
    """Make tones like vowels (T,), the RMS of which is TONE_LEVEL while they sound."""
    time = np.arange(round(TONE_SECONDS * RATE)) / RATE
    ramp = np.clip(time / TONE_FADE, 0, 1) * np.clip((TONE_SECONDS - time) / TONE_FADE, 0, 1)
    parts = []
    for pitch in random.uniform(*PITCHES, TONES):
        tone = sum(np.sin(2 * np.pi * pitch * k * time) / k for k in range(1, PARTIALS + 1))
        tone = TONE_LEVEL * tone / np.sqrt(np.mean(tone**2))
        parts += [ramp * tone, np.zeros(len(time))]
    return np.concatenate(parts)


def _add_hiss(tones: np.ndarray, ratio: float, random: np.random.Generator) -> np.ndarray:
    """Add white noise that lies so many dB under the tones."""
    return tones + TONE_LEVEL * 10 ** (-ratio / 20) * random.standard_normal(len(tones))


def _wav(samples: np.ndarray) -> bytes:
    """Write samples (channels, T) as a WAV file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(len(samples))
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(np.round(32767 * samples).T.astype("<i2").tobytes())
    return file.getvalue()


def _digest(check: str, key: str, token: str, trial: int) -> bytes:
    return hmac.digest(key.encode(), f"{check} {token} {trial}".encode(), "sha256")
