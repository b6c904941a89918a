"""The states of words and sentences, packed into small arrays, and batches of them on one device;
and the basis of the packed states, with the first layer of a network on either side of it.

Shapes: F states of all recordings, N recordings, D numbers of a state, K principal components, B
recordings of a batch, S states of the longest of these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from training.words.concatenation import Word

FILE: Final = "states.npz"
LAYERS: Final = (3, 6)  # of the recogniser
# What is trained on, and of validation speakers: words, the same in noise, and words of sentences.
KINDS: Final = ("word", "sentence", "synthetic", "val", "noisy", "fluent")
VALIDATION: Final = KINDS[3:]
LANGUAGES: Final = ("en", "ar", "zh")
OCTAVE: Final = 64  # units of the packed pitch in an octave
MIN_STATES: Final = 3  # states of a recording after it was made faster
MAX_WARP: Final = 0.15  # a recording is made slower or faster by this share at most
NOISE: Final = 0.06  # standard deviation of what is added to a state
PITCH_SHIFT: Final = 0.25  # octaves, standard deviation
DROPPED_SHARE: Final = 0.06  # share of the dimensions that are left out of a recording
HIDDEN: Final = (0.3, 3)  # share of the recordings with hidden states, and how many of each
BASIS_FILE: Final = "basis.npz"

Weights = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class Packed:
    """Recordings, and a lexicon of words that nobody said.

    states (F, K) int8, in units of ``step``: principal components of the standardised states. pitch
    (F, 2) int8: octaves above 128 Hz, in units of 1 / OCTAVE, and whether there is a voice. lengths
    (N,) in states; phonemes: of each recording; kinds, languages (N,): indices of KINDS and
    LANGUAGES.
    """

    states: np.ndarray
    pitch: np.ndarray
    step: float
    lengths: np.ndarray
    phonemes: Sequence[Word]
    kinds: np.ndarray
    languages: np.ndarray
    lexicon: Sequence[Word]

    def save(self, path: Path) -> None:
        """Write everything into one compressed file."""
        flat, counts = _flat(self.phonemes)
        words, word_counts = _flat(self.lexicon)
        np.savez_compressed(
            path,
            states=self.states,
            pitch=self.pitch,
            step=self.step,
            lengths=self.lengths.astype(np.int32),
            phonemes=flat,
            counts=counts,
            kinds=self.kinds,
            languages=self.languages,
            lexicon=words,
            lexicon_counts=word_counts,
        )

    @classmethod
    def read(cls, path: Path) -> "Packed":
        """Read what ``save`` wrote."""
        with np.load(path) as a:
            return cls(
                a["states"],
                a["pitch"],
                float(a["step"]),
                a["lengths"],
                _split(a["phonemes"], a["counts"]),
                a["kinds"],
                a["languages"],
                _split(a["lexicon"], a["lexicon_counts"]),
            )


class Frames:
    """The states with the pitch after them, on a device: values (F, K + 2), of about unit size.
    scale: what the states were divided by."""

    def __init__(self, packed: Packed, device: torch.device) -> None:
        states = torch.from_numpy(packed.states).to(device).float() * packed.step
        self.scale = float(states[:, :8].std())
        pitch = torch.from_numpy(packed.pitch).to(device).float()
        pitch = torch.stack([pitch[:, 0] / OCTAVE, pitch[:, 1]], dim=1)
        self.values = torch.cat([states / self.scale, pitch], dim=1)
        self.width = self.values.shape[1]
        self.device = device

    def batch(
        self, starts: np.ndarray, lengths: np.ndarray, rng: np.random.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Collect spans of states, given by their starts and lengths (B,): (B, S, K + 2) and
        lengths (B,).

        With rng they are augmented: slower or faster, shifted in pitch, with noise, and with some
        dimensions and some stretches of time left out.
        """
        rates = (
            rng.uniform(1 - MAX_WARP, 1 + MAX_WARP, len(starts)) if rng else np.ones(len(starts))
        )
        sizes = np.maximum(np.round(lengths * rates), MIN_STATES).astype(np.int64)
        places = np.arange(sizes.max())[None] * (lengths / sizes)[:, None]
        places = np.minimum(places, lengths[:, None] - 1)
        before = np.floor(places).astype(np.int64)
        after = np.minimum(before + 1, lengths[:, None] - 1)
        share = torch.from_numpy((places - before).astype(np.float32)).to(self.device)[..., None]
        one, other = (
            torch.from_numpy(starts[:, None] + index).to(self.device) for index in (before, after)
        )
        x = self.values[one] * (1 - share) + self.values[other] * share
        if rng:
            x = self._augmented(x, rng)
        return x, torch.from_numpy(sizes).to(self.device)

    def spans(self, spans: Sequence[np.ndarray], rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Collect augmented states, given by their places: as ``batch`` does."""
        parts = []
        for span in spans:
            size = max(round(len(span) * rng.uniform(1 - MAX_WARP, 1 + MAX_WARP)), MIN_STATES)
            parts.append(span[np.arange(size) * len(span) // size])
        sizes = np.array([len(span) for span in parts])
        index = np.zeros((len(parts), sizes.max()), np.int64)
        for row, span in zip(index, parts, strict=True):
            row[: len(span)] = span
            row[len(span) :] = span[-1]
        x = self.values[torch.from_numpy(index).to(self.device)]
        return self._augmented(x, rng), torch.from_numpy(sizes).to(self.device)

    def _augmented(self, x: Tensor, rng: np.random.Generator) -> Tensor:
        size, steps, width = x.shape
        x[..., :-2] += NOISE * torch.randn(size, steps, width - 2, device=self.device)
        octaves = torch.from_numpy(rng.normal(0, PITCH_SHIFT, (size, 1)).astype(np.float32))
        x[..., -2] += octaves.to(self.device) * x[..., -1]
        mask = torch.ones(size, steps, width, device=self.device)
        dropped = torch.from_numpy(rng.random((size, 1, width)) < DROPPED_SHARE).to(self.device)
        mask = mask.masked_fill(dropped, 0.0)
        share, count = HIDDEN
        first = torch.from_numpy(rng.integers(0, max(steps - count, 1), size)).to(self.device)
        time = torch.arange(steps, device=self.device)[None]
        hidden = (time >= first[:, None]) & (time < first[:, None] + count)
        hidden &= torch.from_numpy(rng.random((size, 1)) < share).to(self.device)
        return x * mask.masked_fill(hidden[..., None], 0.0)


def _flat(words: Sequence[Word]) -> tuple[np.ndarray, np.ndarray]:
    counts = np.array([len(word) for word in words], np.uint8)
    return np.array([number for word in words for number in word], np.uint8), counts


def _split(flat: np.ndarray, counts: np.ndarray) -> list[Word]:
    ends = np.cumsum(counts.astype(np.int64))
    numbers = flat.tolist()
    return [tuple(numbers[end - count : end]) for end, count in zip(ends, counts, strict=True)]


def read_basis(run: Path) -> Weights:
    """Read mean (D,) and std (D,) of the states, and their principal components, basis (D, K)."""
    with np.load(run / BASIS_FILE) as arrays:
        return {name: torch.from_numpy(arrays[name]).double() for name in arrays.files}


def on_states(weights: Mapping[str, Tensor], scale: float, basis: Mapping[str, Tensor]) -> Weights:
    """Change the first layer, of principal components and pitch, into one of states and pitch.

    scale: what the components were divided by.
    """
    count = basis["basis"].shape[1]
    first = weights["frames.weight"].double()
    projection = basis["basis"].T / basis["std"] / scale  # (K, D)
    of_states = first[:, :count] @ projection
    bias = weights["frames.bias"].double() - of_states @ basis["mean"]
    return _with_first(weights, torch.cat([of_states, first[:, count:]], dim=1), bias)


def on_components(
    weights: Mapping[str, Tensor], scale: float, basis: Mapping[str, Tensor]
) -> Weights:
    """Change the first layer, of states and pitch, into one of principal components and pitch: what
    on_states made is as it was, where the basis is the same."""
    size = len(basis["mean"])
    first = weights["frames.weight"].double()
    of_states = first[:, :size]
    components = of_states @ (basis["std"][:, None] * basis["basis"]) * scale
    bias = weights["frames.bias"].double() + of_states @ basis["mean"]
    return _with_first(weights, torch.cat([components, first[:, size:]], dim=1), bias)


def _with_first(weights: Mapping[str, Tensor], weight: Tensor, bias: Tensor) -> Weights:
    return {**weights, "frames.weight": weight.float(), "frames.bias": bias.float()}
