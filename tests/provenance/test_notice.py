"""The spoken notice: before the voices of others unless it is declined, and before no other unless
it is chosen."""

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.media.audio.load import loudness
from earshot.media.audio.speech import OWN, REFERENCE, SHIPPED, Origin, Speech
from earshot.provenance.notice import AUTOMATIC, LANGUAGES, NO_NOTICE, PAUSE, with_notice

RATE = 16_000


def speech(voice: str | None, rate: int = RATE) -> Speech:
    rng = np.random.default_rng(0)
    waveform = (0.05 * rng.standard_normal(2 * rate)).astype(np.float32)
    return Speech(
        waveform, rate, np.zeros((200, 80)), 0.1, Origin("m", voice=voice) if voice else None
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("rate", [RATE, 48_000])
def test_notice_comes_before_the_speech(language: str, rate: int) -> None:
    plain = speech(SHIPPED, rate)
    noticed = with_notice(plain, language)
    before = len(noticed.waveform) - len(plain.waveform)
    assert 1.2 < before / rate - PAUSE < 2.5
    assert np.array_equal(noticed.waveform[before:], plain.waveform)
    notice = noticed.waveform[: before - round(PAUSE * rate)]
    assert abs(loudness(notice, rate) - loudness(plain.waveform, rate)) < 1.5
    assert noticed.origin == plain.origin and noticed.sample_rate == rate


@pytest.mark.parametrize(("voice", "longer"), [(REFERENCE, True), (OWN, False), (SHIPPED, False)])
def test_default_is_for_the_voices_of_others(voice: str, longer: bool) -> None:
    plain = speech(voice)
    assert (len(with_notice(plain, AUTOMATIC).waveform) > len(plain.waveform)) == longer
    assert with_notice(plain, NO_NOTICE) is plain


def test_recordings_have_none() -> None:
    plain = speech(None)
    assert with_notice(plain, "en") is plain


def test_silence_has_one() -> None:
    silent = Speech(np.zeros(RATE, np.float32), RATE, np.zeros((0, 80)), 0.1, Origin("m"))
    assert np.abs(with_notice(silent, "de").waveform).max() > 0


def test_language_that_there_is_not() -> None:
    with pytest.raises(InputError, match="no notice xx"):
        with_notice(speech(SHIPPED), "xx")
