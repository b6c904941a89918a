"""Voice activity detection of synthetic speech (espeak-ng), noise and music."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from earshot.media.audio.load import load
from earshot.media.audio.voice_activity import MAX_GAP, words
from earshot.media.constants import SAMPLE_RATE

WORDS = "tree elephant stop six coffee".split()
TIME = np.arange(2 * SAMPLE_RATE) / SAMPLE_RATE


def speech(folder: Path, text: str, voice: str = "en-us") -> np.ndarray:
    """A word without silence around it (T,)."""
    path = folder / "speech.wav"
    subprocess.run(["espeak-ng", "-v", voice, "-w", path, text], check=True)
    waveform = load(path, SAMPLE_RATE).waveform
    loud = np.flatnonzero(np.abs(waveform) > 0.02)
    return waveform[loud[0] : loud[-1] + 1]


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * SAMPLE_RATE), np.float32)


def noise(n_samples: int, like: np.ndarray, snr: float) -> np.ndarray:
    """White noise (n_samples,), snr dB under a sound."""
    level = np.sqrt(np.mean(like**2)) * 10 ** (-snr / 20)
    return level * np.random.default_rng(0).standard_normal(n_samples).astype(np.float32)


@pytest.mark.parametrize("text", WORDS)
@pytest.mark.parametrize("voice", ["en-us", "en-gb+f3"])
def test_words_finds_a_word_in_silence(text: str, voice: str, tmp_path: Path) -> None:
    word = speech(tmp_path, text, voice)
    recording = np.concatenate([silence(0.5), word, silence(0.7)])
    [(start, end)] = words(recording)
    assert abs(start - 0.5) < 0.1 and abs(end - 0.5 - len(word) / SAMPLE_RATE) < 0.15


@pytest.mark.parametrize("text", WORDS)
def test_words_finds_word_without_silence_around(text: str, tmp_path: Path) -> None:
    word = speech(tmp_path, text)
    [(start, end)] = words(word)
    assert start < 0.1 and len(word) / SAMPLE_RATE - end < 0.15


@pytest.mark.parametrize("text", WORDS)
def test_words_finds_a_word_in_noise(text: str, tmp_path: Path) -> None:
    word = speech(tmp_path, text)
    recording = np.concatenate([silence(0.6), word, silence(0.6)])
    [(start, end)] = words(recording + noise(len(recording), word, snr=12))
    assert abs(start - 0.6) < 0.2 and abs(end - 0.6 - len(word) / SAMPLE_RATE) < 0.3


def test_words_splits_at_long_pauses_only(tmp_path: Path) -> None:
    one, other = speech(tmp_path, "coffee"), speech(tmp_path, "paper")
    apart = np.concatenate([silence(0.3), one, silence(MAX_GAP + 0.25), other, silence(0.3)])
    first, second = words(apart)
    assert first[1] < second[0]
    together = np.concatenate([silence(0.3), one, silence(MAX_GAP - 0.15), other, silence(0.3)])
    assert len(words(together)) == 1


def test_words_of_speech_scrap_is_short(tmp_path: Path) -> None:
    scrap = speech(tmp_path, "ah")[800 : 800 + round(0.04 * SAMPLE_RATE)]
    [(start, end)] = words(np.concatenate([silence(0.5), scrap, silence(0.5)]))
    assert end - start < 0.1


def tone(*pitches: float) -> np.ndarray:
    return np.mean([np.sin(2 * np.pi * hz * TIME) for hz in pitches], axis=0)


def melody() -> np.ndarray:
    """Notes of a quarter of a second with harmonics, each dying away."""
    notes = [262, 330, 392, 523, 392, 330, 262, 196]
    length = len(TIME) // len(notes)
    fading = np.exp(-4 * TIME[:length])
    return np.concatenate(
        [fading * sum(tone(k * hz)[:length] / k for k in range(1, 8)) for hz in notes]
    )


@pytest.mark.parametrize(
    "sound",
    [
        silence(2),
        0.1 * np.random.default_rng(0).standard_normal(len(TIME)),
        tone(440),
        tone(*(262 * k for k in range(1, 9)), *(330 * k for k in range(1, 7))),
        tone(*range(50, 1000, 100)),
        melody(),
    ],
    ids="silence noise tone chord hum melody".split(),
)
@pytest.mark.parametrize("lead", [0.0, 0.5])
def test_words_of_noise_is_empty(sound: np.ndarray, lead: float) -> None:
    """Music has no words in it, either."""
    recording = np.concatenate([silence(lead), 0.3 * sound, silence(lead)]).astype(np.float32)
    assert words(recording) == []


def test_words_of_few_samples_is_empty() -> None:
    assert words(silence(0.0)) == words(silence(0.02)) == []
