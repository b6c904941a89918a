"""Where there is speech in a recording: two detectors together.

Ours (see earshot.media.audio.voice_activity) finds the bounds of a word to 10 ms, but takes a
third of all noises for speech. Silero's, whose weights are those of a wheel that is installed
with the app, knows speech in noise, but its bounds are coarse. Speech is what ours finds near what
Silero's finds: `python -m benchmarks.voice_activity` compares the three.
"""

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from earshot.media.audio import voice_activity
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.checkpoint import CheckpointError
from earshot.pretrained.wheels import installed_file

if TYPE_CHECKING:
    from earshot.models.speech_detector import SpeechDetector

PACKAGE: Final = "silero_vad"
VERSION: Final = "6.2.3"
FILE: Final = "data/silero_vad_16k.safetensors"
SHA256: Final = "c59271c284ae9c8335d795d60e0bfdb71aaaceec578d9bd9ffc1b8153c319ea1"
MISSING: Final = "The speech detector is not installed: pip install silero-vad==6.2.3"
BEGIN, END = 0.5, 0.35  # probabilities at which speech begins, and ends
MIN_SPEECH: Final = 0.1  # seconds; what it finds for less is none
REACH: Final = 0.2  # seconds about what it finds, in which our bounds are taken

Segments = list[tuple[float, float]]  # start and end in seconds, in order


def speech_segments(waveform: np.ndarray) -> Segments:
    """Find the segments of speech in a recording (T,) at 16 kHz, of whatever level.

    Pauses shorter than voice_activity.MAX_GAP belong to their segment. Raises FileNotFoundError
    where the wheel is not installed, CheckpointError where its weights are not the expected ones.
    """
    ours = voice_activity.words(waveform)
    return common(ours, silero_segments(waveform)) if ours else []


def has_speech(waveform: np.ndarray) -> bool:
    """Whether there is speech in a recording (T,) at 16 kHz; where no detector is installed, there
    may be."""
    try:
        return bool(speech_segments(waveform))
    except (FileNotFoundError, CheckpointError):
        return True


def silero_segments(waveform: np.ndarray) -> Segments:
    """Find the segments of speech in a recording (T,) at 16 kHz by Silero's detector alone."""
    import torch  # late, for it takes seconds

    from earshot.models.speech_detector import FRAME

    levelled = torch.from_numpy(voice_activity.levelled(waveform))
    segments, start = [], None
    for frame, probability in enumerate([*load_detector()(levelled).tolist(), 0.0]):
        if start is None and probability >= BEGIN:
            start = frame
        elif start is not None and probability < END:
            segments.append((start * FRAME / SAMPLE_RATE, frame * FRAME / SAMPLE_RATE))
            start = None
    return [(a, b) for a, b in _joined(segments) if b - a >= MIN_SPEECH]


def common(ours: Segments, theirs: Segments) -> Segments:
    """Return those parts of our segments that lie within REACH of theirs. What is shorter than
    MIN_SPEECH, which theirs cannot judge, stays."""
    parts: Segments = []
    for start, end in ours:
        near = [(a - REACH, b + REACH) for a, b in theirs]
        if end - start < MIN_SPEECH:
            near = [(start, end)]
        parts += [(max(start, a), min(end, b)) for a, b in near if start < b and a < end]
    return _joined(parts)


@cache
def load_detector() -> "SpeechDetector":
    """Load Silero's detector, once. Raises FileNotFoundError and CheckpointError as above."""
    from safetensors.torch import load_file  # late: torch

    from earshot.models.speech_detector import SpeechDetector

    path = installed_file(PACKAGE, VERSION, FILE, SHA256, MISSING)
    detector = SpeechDetector()
    weights = {
        f"lstm.{name.removeprefix('lstm_cell.')}_l0" if name.startswith("lstm_cell") else name: w
        for name, w in load_file(path).items()
    }
    detector.load_state_dict(weights)
    return detector.eval()


def _joined(segments: Segments) -> Segments:
    """Close gaps shorter than voice_activity.MAX_GAP."""
    joined: Segments = []
    for start, end in segments:
        if joined and start - joined[-1][1] < voice_activity.MAX_GAP:
            start = joined.pop()[0]
        joined.append((start, end))
    return joined
