"""What an index asks of the model that embeds its sounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True, eq=False)
class AudioEmbedding:
    """Unit vectors of N segments: ``vectors`` (N, D), and of each second of each: (N, S, D)."""

    vectors: np.ndarray
    per_second: np.ndarray


class SoundEncoder(Protocol):
    """The interface that an index and its search need of a model. Vectors have
    D = ``dimension`` numbers and unit length.

    fingerprint: a hash of everything that the vectors depend on. threshold: where the best score
    is lower, no sound matches, of a library of everyday sounds; own_threshold: of a folder of
    anything, speech, noise and tones for example.
    """

    @property
    def name(self) -> str: ...
    @property
    def sample_rate(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def threshold(self) -> float: ...
    @property
    def own_threshold(self) -> float: ...
    def segments(self, waveform: np.ndarray) -> np.ndarray:
        """Cut equal segments of at most 10 s that cover a whole waveform: (T,) → (N, T')."""
        ...

    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        """Embed segments (N, T'), at sample_rate."""
        ...

    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        """Embed n texts: (n, D)."""
        ...
