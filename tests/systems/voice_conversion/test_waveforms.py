"""Whether noise covers the words of a recording."""

import numpy as np
import pytest

from earshot.core.paths import ASSETS
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.voice_conversion.settings import VOICES
from earshot.systems.voice_conversion.waveforms import is_covered


def said(voice: str) -> np.ndarray:
    waveform = load(ASSETS / "voices" / f"{voice}.ogg", SAMPLE_RATE).waveform
    return waveform / np.sqrt(np.square(waveform).mean())


def in_babble(voice: str, snr: float) -> np.ndarray:
    """A voice with six of the others at a signal-to-noise ratio in dB."""
    speech, others = said(voice), [said(other) for other in VOICES if other != voice][:6]
    babble = sum(np.roll(np.resize(o, len(speech)), 7001 * n) for n, o in enumerate(others))
    return speech + babble / np.sqrt(np.square(babble).mean()) * 10 ** (-snr / 20)


@pytest.mark.parametrize("voice", VOICES)
def test_loud_babble_covers_words(voice: str) -> None:
    """Babble that is 10 dB softer does not."""
    assert is_covered(in_babble(voice, 0.0))
    assert not is_covered(in_babble(voice, 10.0))
    assert not is_covered(said(voice))


def test_level_of_recording_does_not_matter() -> None:
    noisy = in_babble("TF2", 0.0)
    assert is_covered(0.001 * noisy) and is_covered(noisy / np.abs(noisy).max())


def test_silence_is_not_called_covered() -> None:
    """Neither is a single word."""
    noise = np.random.default_rng(0).standard_normal(SAMPLE_RATE)
    assert not is_covered(np.zeros(SAMPLE_RATE))
    assert not is_covered(noise[: SAMPLE_RATE // 2])
    assert is_covered(noise)
