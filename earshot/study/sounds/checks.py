"""Checks that a rater does by ear before the trials: of their headphones, and of their room.

Headphones, by Huggins' pitch: three noises, the same at both ears but for one, whose narrow band is
turned over at the right ear. With a sound for each ear alone a faint tone is audible in it, and
through loudspeakers hardly ever (Milne et al., An online headphone screening test based on dichotic
pitch, 2021). Or by tones: the quietest of three is to be found, and another is in antiphase, so
that it cancels itself out in the air and seems the quietest through loudspeakers (Woods et al.,
Headphone screening to facilitate web-based auditory experiments, 2017).

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
from typing import Final, Literal

import numpy as np

from earshot.study.design.raters import HeadphoneCheck, RoomTest

HeadphoneKind = Literal["huggins", "antiphase"]

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

TONE: Final = 200.0  # Hz, low enough to be cancelled out wherever one sits
QUIET_DEPTH: Final = 6.0  # dB that the tone to find lies under the others
TONE_PAUSE: Final = 0.5  # s between two
ANTIPHASE_FADE: Final = 0.1  # s at both ends of a tone
MAX_WRONG: Final[dict[HeadphoneKind, int]] = {"huggins": 0, "antiphase": 1}  # the authors' criteria
# The short form: passed by so many right answers before the first wrong one, or before the second.
SHORT_RIGHT: Final = (4, 6)
MAX_SHORT: Final = SHORT_RIGHT[1] + 1  # trials
MAX_HEADPHONE_ANSWERS: Final = 2 * MAX_SHORT  # in an attempt at both

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


def quiet_tone(key: str, token: str, trial: int) -> int:
    """Choose which of the three tones is the quietest, from 1."""
    return 1 + _digest("antiphase", key, token, trial)[0] % NOISES


def antiphase_sound(key: str, token: str, trial: int) -> bytes:
    """Make the three tones of a trial as a WAV file for two ears: one is quieter, another in
    antiphase."""
    quiet, digest = quiet_tone(key, token, trial) - 1, _digest("antiphase", key, token, trial)
    turned = (quiet + 1 + digest[1] % (NOISES - 1)) % NOISES
    time = np.arange(round(NOISE_SECONDS * RATE)) / RATE
    ends = np.clip(np.minimum(time, NOISE_SECONDS - time) / ANTIPHASE_FADE, 0, 1)
    tone = np.sqrt(2) * TONE_LEVEL * np.sin(2 * np.pi * TONE * time) * np.sin(np.pi / 2 * ends) ** 2
    parts = []
    for place in range(NOISES):
        left = tone * (10 ** (-QUIET_DEPTH / 20) if place == quiet else 1)
        parts += [np.stack([left, -left if place == turned else left])]
        parts += [np.zeros((2, round(TONE_PAUSE * RATE)))]
    return _wav(np.concatenate(parts[:-1], axis=1))


def kinds(check: HeadphoneCheck, attempt: int) -> tuple[HeadphoneKind, ...]:
    """List what an attempt at a headphone check is made of, all of which is to be passed."""
    if check.test == "both":
        return "huggins", "antiphase"
    if check.test == "either":
        return ("antiphase",) if attempt else ("huggins",)
    return (check.test,)


def trials_of(check: HeadphoneCheck | None) -> int:
    """Count the trials of one kind in an attempt, at most."""
    return MAX_SHORT if check and check.short else HEADPHONE_TRIALS


def decided(right: Sequence[bool], kind: HeadphoneKind, short: bool) -> bool | None:
    """Whether answers to trials of one kind pass; None where more are to be asked.

    Of six, all must be right by Huggins' pitch, five by tones in antiphase. The short form is a
    sequential test: it is passed by SHORT_RIGHT[0] right answers without a wrong one, or by
    SHORT_RIGHT[1] with one, and failed by the second wrong one.
    """
    wrong = len(right) - sum(right)
    if not short:
        return None if len(right) < HEADPHONE_TRIALS else wrong <= MAX_WRONG[kind]
    if wrong >= len(SHORT_RIGHT):
        return False
    return True if sum(right) >= SHORT_RIGHT[wrong] else None


def judge_headphones(
    key: str, token: str, check: HeadphoneCheck, answers: Sequence[int], attempt: int
) -> tuple[bool | None, HeadphoneKind, int]:
    """Judge the answers of an attempt so far → whether it is passed, None where it goes on; and the
    kind and number of the next trial, or of the last."""
    first, place = attempt * trials_of(check), 0
    kind: HeadphoneKind = "huggins"
    for kind in kinds(check, attempt):
        place_of, right = {"huggins": hidden_noise, "antiphase": quiet_tone}[kind], []
        while (passed := decided(right, kind, check.short)) is None:
            trial = first + len(right)
            if place == len(answers):
                return None, kind, trial
            right.append(answers[place] == place_of(key, token, trial))
            place += 1
        if not passed:
            return False, kind, first
    return True, kind, first


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
