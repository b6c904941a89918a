"""A spoken notice before converted speech: that a computer changed the voice."""

from dataclasses import replace
from typing import Final

import numpy as np

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.audio.speech import REFERENCE, Speech

FOLDER: Final = ASSETS / "notices"  # scripts/build_notices.py
LANGUAGES: Final = {
    "en": "English",
    "ar": "العربية",
    "de": "Deutsch",
    "es": "Español",
    "fr": "Français",
    "zh": "中文",
}
AUTOMATIC, NO_NOTICE = "auto", "none"  # in place of a language
CHOICES: Final = (AUTOMATIC, NO_NOTICE, *LANGUAGES)
PAUSE: Final = 0.3  # seconds before the speech
LEVEL: Final = -23.0  # LUFS, that of silence


def with_notice(speech: Speech, choice: str = AUTOMATIC) -> Speech:
    """Put the notice before converted speech, as loud as that; its spectrogram stays that of the
    speech.

    choice: a language, NO_NOTICE, or AUTOMATIC: in English where the voice is somebody else's, of
    a recording. Raises InputError for another.
    """
    if choice not in CHOICES:
        raise InputError(f"There is no notice {choice}. Choose one of {', '.join(CHOICES)}.")
    lent = speech.origin is not None and speech.origin.voice == REFERENCE
    language = ("en" if lent else NO_NOTICE) if choice == AUTOMATIC else choice
    if language == NO_NOTICE or speech.origin is None:
        return speech
    from earshot.media.audio.load import load, loudness, match_loudness  # late: SciPy

    rate = speech.sample_rate
    notice = load(FOLDER / f"{language}.opus", rate).waveform
    level = max(loudness(speech.waveform, rate), 2 * LEVEL)
    pause = np.zeros(round(PAUSE * rate), np.float32)
    parts = [match_loudness(notice, rate, level), pause, speech.waveform]
    return replace(speech, waveform=np.concatenate(parts))
