"""What lip to speech reads of a film, the voice that it speaks in, and what it says.

Shapes: F frames of 40 ms, C width of the reader, W words and the blank, S mel frames of 10 ms.
"""

from dataclasses import dataclass

import numpy as np

from media.video.lips import Mouth
from pipelines.lip_to_speech.caption import SpokenWord
from pipelines.speech import Speech


@dataclass(frozen=True)
class Voice:
    """pitch: its mean in Hz; timbre: from 0, the darkest of the known voices, to 1, the
    brightest."""

    pitch: float
    timbre: float


@dataclass(frozen=True, eq=False)
class Reading:
    """What was seen, once for all voices: mouth; states (F, C) and words (F, W), logits, of the
    reader; caption, the likeliest sentence, and the confidence in all of it from 0 to 1; voice,
    guessed by the face; seconds that it took."""

    mouth: Mouth
    states: np.ndarray
    words: np.ndarray
    caption: tuple[SpokenWord, ...]
    confidence: float
    voice: Voice
    notices: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, eq=False)
class LipSpeech:
    """A reading and the speech that was drawn from it, in a voice. drawn (S, 80): the log-mel
    frames as the network drew them; seconds from the film to the sound."""

    reading: Reading
    voice: Voice
    drawn: np.ndarray
    speech: Speech
    seconds: float
