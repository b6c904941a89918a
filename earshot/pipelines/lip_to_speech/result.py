"""The results of lip to speech: the encoded video, the voice, and the speech.

Shapes: N frames of 40 ms, C width of the lip reader, W words and the CTC blank, S mel frames of
10 ms.
"""

from dataclasses import dataclass

import numpy as np

from earshot.media.video.lips import MouthClip
from earshot.pipelines.lip_to_speech.caption import SpokenWord
from earshot.pipelines.speech import Speech


@dataclass(frozen=True)
class Voice:
    """A voice to speak in. pitch: mean F0 in Hz; timbre: from 0, the darkest of the training
    voices, to 1, the brightest.
    """

    pitch: float
    timbre: float


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
    voice: Voice
    notices: tuple[str, ...]
    compute_seconds: float


@dataclass(frozen=True, eq=False)
class LipSpeech:
    """The speech of a video in one voice. predicted_mel (S, 80): log-mel frames of the network;
    speech: what the vocoder made of them; compute_seconds: from the video to the speech."""

    reading: LipReading
    voice: Voice
    predicted_mel: np.ndarray
    speech: Speech
    compute_seconds: float
