"""Lanes of a video of a speaking mouth: its frames, and the words that were read from it."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from markupsafe import Markup

from earshot.tabs.components.timeline.lanes import LANES
from earshot.tabs.shared.confidence import certainty
from earshot.tabs.shared.html import macro
from earshot.tabs.shared.images import grey_jpeg, ink_on, viridis_colors

MAX_PICTURES: Final = 16  # of a video strip


@dataclass(frozen=True)
class VideoStrip:
    """Frames of a video side by side, each at its time; data URIs."""

    label: str
    pictures: tuple[str, ...]
    seconds: float
    stale: bool = False

    @classmethod
    def of(cls, label: str, crops: np.ndarray, seconds: float) -> "VideoStrip":
        """Take some of the crops (F, H, W) uint8, from the middle of equal segments of time."""
        count = min(len(crops), MAX_PICTURES)
        chosen = ((np.arange(count) + 0.5) * len(crops) / count).astype(int)
        return cls(label, tuple(grey_jpeg(crops[i]) for i in chosen), seconds)

    def html(self) -> Markup:
        return macro(LANES, "strip", self.label, self.pictures)


class Word(NamedTuple):
    """A word read from the lips. confidence from 0 to 1; start and end in seconds."""

    text: str
    confidence: float
    start: float
    end: float


@dataclass(frozen=True)
class WordLane:
    """Words at their times, in viridis: dark at low confidence, bright at high."""

    label: str
    words: tuple[Word, ...]
    seconds: float
    stale: bool = False

    def html(self) -> Markup:
        colors = viridis_colors(np.array([word.confidence for word in self.words]))
        cells = list(map(self._cell, self.words, colors))
        return macro(LANES, "words", self.label, cells)

    def _cell(self, word: Word, color: str) -> tuple[Word, str, str, str]:
        """Write a word, how sure it is, and the styles of its place and colours."""
        left, width = word.start / self.seconds, (word.end - word.start) / self.seconds
        place = f"left:{left:.2%};width:{width:.2%}"
        return word, certainty(word.confidence), place, f"background:{color};color:{ink_on(color)}"
