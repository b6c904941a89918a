"""Nobody's voice: one that is drawn anew for each visit, so that the speaker is not known by it.

It is drawn from the normal distribution of the voices of the training's speakers, whose voice it
is not: strangers, who are as far from each other as people are (MAX_LIKE). The way of speaking goes
as well: the pitch moves as the network predicts from the words, and tempo and pauses are evened.

Shapes: U steps of 20 ms, C content width, T samples, V numbers of a voice's vector, D = V + 2 with
mean and logarithm of the standard deviation of its log-F0, K principal axes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from safetensors.numpy import load_file, save_file

from earshot.media.audio.speech import NOBODY
from earshot.media.audio.voice_activity import words
from earshot.media.constants import SAMPLE_RATE
from earshot.models.recogniser import STEP
from earshot.pretrained.voice import Nobody, Voice

FILE: Final = "strangers.safetensors"  # in the folder of a checkpoint
AXES: Final = 32  # that hold 96 % of the variance
CANDIDATES: Final = 2000  # draws, of which the first is taken that is far enough from the others
# Cosines of vectors: the median of two of 251 speakers, and of the nearest of the nine shipped
# voices to one of them. Two recordings of one speaker have .64 or more.
MAX_LIKE_SOURCE, MAX_LIKE_SHIPPED = 0.10, 0.18
PITCH_WEIGHT: Final = 10.0  # of the pitch's two numbers among those of the vector, for the axes
# Content moves further in 60 ms where one speaks faster. Over 65 test recordings, letters a second
# go with this power of it.
MOVED_STEPS, USUAL_MOVE, TEMPO_POWER = 3, 6.64, 1.67
MAX_STRETCH: Final = 1.25  # either way
USUAL_PAUSE: Final = 0.4  # seconds


@dataclass(frozen=True, eq=False)
class Strangers:
    """The distribution of people's voices. mean: (D,); axes: (K, D), as long as the standard
    deviations along them.
    """

    mean: np.ndarray
    axes: np.ndarray

    @classmethod
    def of(cls, voices: Sequence[Voice]) -> "Strangers":
        """Measure the distribution of these voices."""
        weights = np.ones(len(voices[0].vector) + 2)
        weights[-2:] = PITCH_WEIGHT
        rows = np.stack([[*v.vector, v.pitch_mean, np.log(v.pitch_std)] for v in voices])
        mean = rows.mean(axis=0)
        _, spread, axes = np.linalg.svd((rows - mean) * weights, full_matrices=False)
        long = axes * spread[:, None] / np.sqrt(len(voices) - 1) / weights
        return cls(mean.astype(np.float32), long[:AXES].astype(np.float32))

    @classmethod
    def load(cls, folder: Path) -> "Strangers | None":
        """Load the distribution that lies with a checkpoint; None where there is none."""
        path = folder / FILE
        return cls(**load_file(path)) if path.exists() else None

    def save(self, folder: Path) -> None:
        """Write the distribution into the folder of a checkpoint."""
        save_file({"mean": self.mean, "axes": self.axes}, folder / FILE)

    def voice(self, target: Nobody, shipped: Iterable[Voice], own: Voice | None) -> Voice:
        """Draw a voice: as far from the shipped ones, and from the speaker's own where that is
        known, as strangers are, and at less than full strength on the way to it from their own.
        """
        random = np.random.default_rng(target.seed)
        draws = random.standard_normal((CANDIDATES, len(self.axes))) @ self.axes + self.mean
        vectors = draws[:, :-2] - draws[:, :-2].mean(axis=1, keepdims=True)
        vectors /= vectors.std(axis=1, keepdims=True)
        width = vectors.shape[1]
        others = np.stack([voice.vector for voice in shipped])
        excess = (vectors @ others.T).max(axis=1) / width - MAX_LIKE_SHIPPED
        if own is not None:
            excess = np.maximum(excess, vectors @ own.vector / width - MAX_LIKE_SOURCE)
        far = np.flatnonzero(excess <= 0)
        chosen = far[0] if len(far) else excess.argmin()
        mean, log_std = draws[chosen, -2:]
        vector = vectors[chosen].astype(np.float32)
        voice = Voice("nobody", vector, float(mean), float(np.exp(log_std)), NOBODY)
        if own is not None:
            voice = own.blend(voice, target.strength)
        return replace(voice, name="nobody", kind=NOBODY, evened=float(target.strength))


def without_pauses(waveform: np.ndarray) -> np.ndarray:
    """Cut out the speech of a recording (T,), without its pauses: (T',)."""
    spans = [slice(round(a * SAMPLE_RATE), round(b * SAMPLE_RATE)) for a, b in words(waveform)]
    return np.concatenate([waveform[:0], *(waveform[span] for span in spans)])


def even_tempo(waveform: np.ndarray, content: np.ndarray, strength: float, most: int) -> np.ndarray:
    """Choose the steps of content (U, C) of a recording (T,) by which it is spoken at a usual
    tempo, with usual pauses: indices (U',), at most so many.
    """
    steps_per_second = SAMPLE_RATE / STEP
    edges = [round(t * steps_per_second) for segment in words(waveform) for t in segment]
    moves = np.linalg.norm(content[MOVED_STEPS:] - content[:-MOVED_STEPS], axis=1)
    speech = [moves[a : max(b - MOVED_STEPS, a)] for a, b in zip(*2 * [iter(edges)], strict=True)]
    move = np.concatenate([*speech, np.zeros(0)])
    if not len(move):
        return np.arange(len(content))
    stretch = np.clip((move.mean() / USUAL_MOVE) ** TEMPO_POWER, 1 / MAX_STRETCH, MAX_STRETCH)
    bounds = [0, *edges, len(content)]
    runs = []
    for number, (start, end) in enumerate(pairwise(bounds)):
        is_pause = number % 2 == 0
        usual = USUAL_PAUSE * steps_per_second if is_pause else (end - start) * stretch
        count = round((end - start) ** (1 - strength) * usual**strength) if end > start else 0
        runs.append(np.linspace(start, end - 1, count).round().astype(int))
    indices = np.concatenate(runs)
    return indices[np.linspace(0, len(indices) - 1, min(len(indices), most)).round().astype(int)]
