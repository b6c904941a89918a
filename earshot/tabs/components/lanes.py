"""The lanes of a Timeline: each renders itself as HTML, as wide as its duration.

Tabs may add kinds of their own: anything with the attributes of Lane.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from markupsafe import Markup

from earshot.media.constants import NYQUIST
from earshot.media.pictures import (
    frequency_ticks,
    grey_jpeg,
    ink_on,
    spectrogram_png,
    viridis_colors,
)
from earshot.systems.voice_conversion.settings import MUTED
from earshot.tabs.shared.confidence import certainty
from earshot.tabs.shared.html import macro

LANES: Final = "components/lanes.html"
PEAKS_PER_SECOND: Final = 100
MAX_PEAKS: Final = 12_000  # of a waveform: two minutes in full
MIN_PEAK: Final = 0.1  # peak under which a waveform is not scaled up to the full height
MAX_CELLS: Final = 240  # of a heat strip; a longer one shows the maximum of several seconds a cell
MAX_PICTURES: Final = 16  # of a video strip


class Lane(Protocol):
    """The interface of what a timeline can show: html() fills a box that spans `seconds` of the
    time axis.
    """

    @property
    def label(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def stale(self) -> bool: ...
    def html(self) -> Markup: ...


@dataclass(frozen=True)
class Waveform:
    """The envelope of a sound: its largest sample in every 10 ms, longer for long sounds."""

    label: str
    peaks: tuple[float, ...]
    seconds: float
    stale: bool = False

    @classmethod
    def of(cls, label: str, waveform: np.ndarray, sample_rate: int) -> "Waveform":
        """Draw the envelope of a waveform (T,) in [-1, 1]."""
        bucket = max(sample_rate // PEAKS_PER_SECOND, -(-len(waveform) // MAX_PEAKS))
        padded = np.pad(np.abs(waveform), (0, -len(waveform) % bucket))
        peaks = padded.reshape(-1, bucket).max(axis=1).round(3)
        return cls(label, tuple(peaks.tolist()), len(waveform) / sample_rate)

    def html(self) -> Markup:
        # Scaled to the height of the lane, but near silence is not made to look like sound.
        scale = max(MIN_PEAK, *self.peaks)
        points = [f"{i},{1 - peak / scale:.3f}" for i, peak in enumerate(self.peaks)]
        mirror = [f"{i},{1 + peak / scale:.3f}" for i, peak in enumerate(self.peaks)][::-1]
        return macro(LANES, "wave", self.label, len(self.peaks), " ".join(points + mirror))


@dataclass(frozen=True)
class Spectrogram:
    """A log-mel spectrogram as an image, with a frequency axis."""

    label: str
    picture: str  # data URI
    seconds: float
    stale: bool = False
    nyquist: float = NYQUIST  # Hz

    @classmethod
    def of(cls, label: str, log_mel: np.ndarray, seconds: float) -> "Spectrogram":
        """Draw the image of log_mel (S, M), natural logarithm of magnitude."""
        return cls(label, spectrogram_png(log_mel), seconds)

    def html(self) -> Markup:
        return macro(LANES, "spectrogram", self.label, self.picture, frequency_ticks(self.nyquist))


@dataclass(frozen=True)
class UnitCells:
    """One coloured cell for each unit; runs of the same unit are joined and numbered once.

    codes: (U,), where MUTED is hatched; step: duration of a unit in seconds; colors: one for each
    unit of the codebook, as "#rrggbb"; edited: indices of those that are marked as edited.
    """

    label: str
    codes: tuple[int, ...]
    step: float
    colors: Sequence[str]
    selectable: bool = False
    stale: bool = False
    edited: Collection[int] = ()

    @property
    def seconds(self) -> float:
        return len(self.codes) * self.step

    def html(self) -> Markup:
        runs, start = [], 0
        for code, group in groupby(self.codes):
            end = start + len(list(group))
            runs.append(self._run(code, range(start, end)))
            start = end
        return macro(LANES, "units", self.label, runs, self.selectable)

    def _run(self, code: int, places: range) -> dict[str, Any]:
        color = "" if code == MUTED else self.colors[code]
        return {
            "code": code,
            "name": "muted" if code == MUTED else f"unit {code}",
            "color": color,
            "ink": ink_on(color) if color else "",
            "cells": [{"start": i * self.step, "edited": i in self.edited} for i in places],
        }


@dataclass(frozen=True)
class Heat:
    """Scores over time as a strip in viridis, one cell a second.

    scores: (ceil(seconds),); low, high: the ends of the colour scale.
    """

    label: str
    scores: tuple[float, ...]
    seconds: float
    low: float
    high: float
    stale: bool = False

    def html(self) -> Markup:
        step = -(-len(self.scores) // MAX_CELLS)  # seconds a cell, rounded up
        starts = range(0, len(self.scores), step)
        best = [max(self.scores[start : start + step]) for start in starts]
        levels = (np.array(best) - self.low) / max(self.high - self.low, 1e-6)
        colors = viridis_colors(levels)
        ends = [round(min(start + step, self.seconds), 2) for start in starts]
        return macro(LANES, "heat", self.label, list(zip(starts, ends, best, colors, strict=True)))


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
