"""The headphone check, by Huggins' pitch.

Three noises, the same at both ears but for one, whose narrow band is turned over at the right ear:
with a sound for each ear alone one hears a faint tone in it, and through loudspeakers hardly ever.
Source: Milne et al., An online headphone screening test based on dichotic pitch (2021).
"""

import hmac
import io
import wave
from collections.abc import Sequence
from typing import Final

import numpy as np

TRIALS: Final = 6
ATTEMPTS: Final = 2  # for those who forgot their headphones
NOISES: Final = 3
RATE: Final = 16_000  # Hz
SECONDS: Final = 1.0  # of a noise
PAUSE: Final = 0.3  # s between two
TONE: Final = 600.0  # Hz
BAND: Final = 0.06  # of the tone's frequency to either side
LEVEL: Final = 0.05  # RMS of the noise, -26 dB: about as loud as speech
FADE: Final = 0.02  # s at both ends of a noise


def hidden(key: str, token: str, trial: int) -> int:
    """Choose which of the three hides the tone, from 1: the same for a rater at every request.

    key: the test's, which no rater knows; with the token alone the answers could be computed.
    """
    return 1 + _digest(key, token, trial)[0] % NOISES


def passed(key: str, token: str, answers: Sequence[int], attempt: int = 0) -> bool:
    """Say whether the tone was found in every trial of an attempt, the strictest of the authors'
    criteria.
    """
    trials = range(attempt * TRIALS, (attempt + 1) * TRIALS)
    return [*answers] == [hidden(key, token, trial) for trial in trials]


def sound(key: str, token: str, trial: int) -> bytes:
    """Write the three noises of a trial as a WAV file for two ears."""
    random = np.random.default_rng(list(_digest(key, token, trial)[1:]))
    pause = np.zeros((2, round(PAUSE * RATE)))
    noises = [_noise(random, n + 1 == hidden(key, token, trial)) for n in range(NOISES)]
    parts = [part for noise in noises for part in (noise, pause)][:-1]
    samples = np.round(32767 * np.concatenate(parts, axis=1))
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(samples.T.astype("<i2").tobytes())
    return file.getvalue()


def _noise(random: np.random.Generator, tonal: bool) -> np.ndarray:
    """Draw noise for both ears (2, T)."""
    left = random.standard_normal(round(SECONDS * RATE))
    spectrum = np.fft.rfft(left)
    frequency = np.fft.rfftfreq(len(left), 1 / RATE)
    if tonal:
        spectrum[np.abs(frequency - TONE) <= BAND * TONE] *= -1
    right = np.fft.irfft(spectrum, len(left))
    ramp = np.clip(np.arange(len(left)) / (FADE * RATE), 0, 1)
    return LEVEL * np.stack([left, right]) * ramp * ramp[::-1]


def _digest(key: str, token: str, trial: int) -> bytes:
    return hmac.digest(key.encode(), f"headphones {token} {trial}".encode(), "sha256")
