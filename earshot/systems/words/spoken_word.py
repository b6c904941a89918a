"""The word in a recording: located by voice activity detection, or as cut out by the visitor."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from earshot.core.errors import InputError
from earshot.media.audio.load import Audio, load
from earshot.media.constants import SAMPLE_RATE
from earshot.media.samples import SILENT_PEAK
from earshot.pretrained.speech_segments import speech_segments

MIN_SECONDS: Final = 0.1  # of speech
MAX_SECONDS: Final = 3.0
MARGIN: Final = 0.12  # seconds kept around detected speech, for soft ends; less than half a pause
MAX_RECORDING: Final = 60.0  # seconds; only one word of it is used

Cut = tuple[float, float]  # start and end in seconds


@dataclass(frozen=True, eq=False)
class Word:
    """A recording, float32 (T,) at 16 kHz, with the start and end (s) of its word, and notices."""

    recording: np.ndarray
    start: float
    end: float
    notices: tuple[str, ...] = ()

    @property
    def waveform(self) -> np.ndarray:
        """Cut out the word alone: (T',)."""
        return self.recording[round(self.start * SAMPLE_RATE) : round(self.end * SAMPLE_RATE)]


class CutNeededError(InputError):
    """The recording holds more than one word, or one with a pause in it. recording: (T,) at 16 kHz;
    cuts: the segments of speech in it, each at most MAX_SECONDS long; proposed: the one to begin
    with."""

    def __init__(
        self, message: str, recording: np.ndarray, cuts: tuple[Cut, ...], advice: str = ""
    ) -> None:
        super().__init__(message, advice)
        self.recording = recording
        self.cuts = cuts

    @property
    def proposed(self) -> Cut:
        """Choose the longest segment."""
        return max(self.cuts, key=lambda cut: cut[1] - cut[0])


def find_word(audio: Audio, cut: Cut | None = None) -> Word:
    """Find the only word or short phrase in a recording, or the part that the visitor cut out.

    Raises InputError where there is none (not audio, silent, no or too little speech; a cut outside
    the recording, too short or too long), and CutNeededError where there are several, or a long
    one.
    """
    loaded = load(audio, SAMPLE_RATE, MAX_RECORDING, MIN_SECONDS)
    recording, notices = loaded.waveform, loaded.notices
    if np.abs(recording).max() < SILENT_PEAK:
        raise InputError(
            "The recording is silent.", "Check that the right microphone is on, and say a word."
        )
    if cut is not None:
        return replace(_cut(recording, *cut), notices=notices)
    speech = speech_segments(recording)
    if not speech:
        raise InputError(
            "There is sound, but no speech in it: music or noise perhaps.",
            "Say one word, close to the microphone.",
        )
    longest = max(end - start for start, end in speech)
    if longest < MIN_SECONDS:
        raise InputError(
            f"There is too little speech ({longest:.2f} s) to be a word.",
            "Wait for the recording to start, then say the word.",
        )
    # Clicks are shorter than any word.
    segments = [(start, end) for start, end in speech if end - start >= MIN_SECONDS]
    cuts = tuple(_with_margin(start, end, len(recording) / SAMPLE_RATE) for start, end in segments)
    if longest > MAX_SECONDS:
        raise CutNeededError(
            f"That is {longest:.0f} s of speech: too long for one word.",
            recording,
            cuts,
            f"Say one word, or cut out at most {MAX_SECONDS:g} s.",
        )
    if len(cuts) == 1:
        return Word(recording, *cuts[0], notices)
    raise CutNeededError(
        f"There are {len(cuts)} parts with pauses between them: several words, or one with a pause "
        "in it.",
        recording,
        cuts,
        "Say one word in one go, or cut it out: the longest part is marked.",
    )


def _cut(recording: np.ndarray, start: float, end: float) -> Word:
    """Raise InputError for a cut outside the recording, too short or too long."""
    seconds = len(recording) / SAMPLE_RATE
    if not 0 <= start < end <= seconds + 0.01:  # the cut may be rounded; NaN is refused too
        raise InputError(
            f"The cut lies outside the recording. Choose a start before the end, from 0 to "
            f"{seconds:.2f} s."
        )
    if end - start < MIN_SECONDS - 1e-6:
        raise InputError(
            f"The cut is too short ({end - start:.2f} s). Choose {MIN_SECONDS:g} s or more."
        )
    if end - start > MAX_SECONDS + 1e-6:
        raise InputError(
            f"The cut is too long ({end - start:.1f} s). Choose {MAX_SECONDS:g} s or less."
        )
    return Word(recording, float(start), min(float(end), seconds))


def _with_margin(start: float, end: float, seconds: float) -> Cut:
    start = max(start - MARGIN, 0.0)
    return start, min(end + MARGIN, seconds, start + MAX_SECONDS)
