"""What a conversion carries over, and what it gives."""

from dataclasses import dataclass

import numpy as np

from pipelines.speech import Speech
from pipelines.voice_conversion.contour import Contour
from pipelines.voice_conversion.voice import Voice


@dataclass(frozen=True, eq=False)
class Content:
    """What was said, and how it was intoned, without whose voice it was.

    codes: int64 (U, number of codebooks), no columns where the bottleneck is continuous; vectors:
    float32 (U, content_width), what the inverter is given; silent: bool (U,).
    """

    bottleneck: str
    codes: np.ndarray
    vectors: np.ndarray
    silent: np.ndarray
    contour: Contour


@dataclass(frozen=True, eq=False)
class AnyVoiceResult:
    """Everything that a page shows. content_bits and contour_bits: bit/s sent, the former infinite
    where the bottleneck is continuous; contour_bits are 0 where the intonation was predicted."""

    source: Speech
    content: Content
    converted: Speech
    voice: Voice
    notices: tuple[str, ...]
    content_bits: float
    contour_bits: float
    seconds: float
    real_time_factor: float
