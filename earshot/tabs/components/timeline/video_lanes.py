"""Lanes of a video of a speaking mouth: its frames, and the words that were read from it."""

from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

import numpy as np

from earshot.tabs.shared.confidence import certainty
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

    def html(self) -> str:
        pictures = "".join(f'<img src="{p}" draggable="false" alt="">' for p in self.pictures)
        return (
            f'<div class="tl-strip" role="img" aria-label="{escape(self.label)}">{pictures}</div>'
        )


class Word(NamedTuple):
    """confidence from 0 to 1; start and end in seconds."""

    text: str
    confidence: float
    start: float
    end: float


@dataclass(frozen=True)
class Words:
    """Words at their times, in viridis: dark at low confidence, bright at high."""

    label: str
    words: tuple[Word, ...]
    seconds: float
    stale: bool = False

    def html(self) -> str:
        colors = viridis_colors(np.array([word.confidence for word in self.words]))
        cells = "".join(map(self._cell, self.words, colors))
        label = escape(self.label)
        return f'<div class="tl-caption" role="group" aria-label="{label}">{cells}</div>'

    def _cell(self, word: Word, color: str) -> str:
        text, said = escape(word.text), certainty(word.confidence)
        left, width = word.start / self.seconds, (word.end - word.start) / self.seconds
        place = f"left:{left:.2%};width:{width:.2%}"
        return (
            f'<i role="img" style="{place};background:{color};color:{ink_on(color)}" '
            f'aria-label="{text}: {said}, {word.start:.2f} s"><b>{text}</b>'
            f"<small>{said}</small></i>"
        )
