"""The results of lip to speech: the encoded video, the voice, and the speech.

Shapes: N frames of 40 ms, C width of the lip reader, W words and the CTC blank, S mel frames of
10 ms.
"""

import math
from dataclasses import dataclass

import numpy as np

from earshot.media.audio.speech import Speech
from earshot.media.video.lips import MouthClip
from earshot.pretrained.voice import Voice
from earshot.systems.lip_to_speech.caption import SpokenWord


@dataclass(frozen=True)
class FaceVoice:
    """A voice that a face suggests, or that two sliders set. pitch: mean F0 in Hz; timbre: from 0,
    the darkest of the training voices, to 1, the brightest.
    """

    pitch: float
    timbre: float

    @property
    def name(self) -> str:
        """Write what tells it from others."""
        return f"{self.pitch:.0f} Hz {self.timbre:.2f}"


@dataclass(frozen=True, eq=False)
class LipReading:
    """An encoded video, the same for every voice. mouth: the crops and their quality; states (N, C)
    and ctc_logits (N, W): encoder outputs; caption: the most likely sentence; confidence: the mean
    over its words, from 0 to 1; voice: the one suggested by the face; notices: how to record
    better; compute_seconds: the time it took."""

    mouth: MouthClip
    states: np.ndarray
    ctc_logits: np.ndarray
    caption: tuple[SpokenWord, ...]
    confidence: float
    voice: FaceVoice
    notices: tuple[str, ...]
    compute_seconds: float


@dataclass(frozen=True, eq=False)
class LipSpeech:
    """The speech of a video in one voice: that of a face, or one of any-voice's. predicted_mel (S,
    80): log-mel frames of the networks; speech: what the vocoder made of them; compute_seconds:
    from the video to the speech."""

    reading: LipReading
    voice: FaceVoice | Voice
    predicted_mel: np.ndarray
    speech: Speech
    compute_seconds: float

    @property
    def pitch(self) -> float:
        """Give the mean F0 of the voice in Hz."""
        voice = self.voice
        return voice.pitch if isinstance(voice, FaceVoice) else math.exp(voice.pitch_mean)
