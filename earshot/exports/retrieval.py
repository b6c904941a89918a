"""A comparison of systems that embed words, or sounds: how well each finds what belongs together.

Each recording of a word looks for the others of the same word, which the names of their files say
up to the first - or _; each caption of a sound looks for that sound. OUT/SYSTEM/INPUT.npy is what a
system makes of a recording; all else is as in earshot.exports.comparison.
"""

import io
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from earshot.core import files
from earshot.core.errors import InputError
from earshot.exports import measures
from earshot.exports.comparison import MAX_ERROR, NOTES, Comparison, Item
from earshot.exports.measures import PRECISION, RIGHT, SECONDS, Measure

WORD: Final = re.compile(r"[^-_]+")
WORDS: Final = (
    "Each recording looks for the others of its word: average precision is that of their ranking, "
    "and the first is right where it is of the same word. Clusters are words."
)
SOUNDS: Final = (
    "Each caption looks for its sound among all: average precision is 1 / rank. Clusters are "
    "sounds."
)


class Encoder(Protocol):
    """A system: what it makes of a file, and how alike that is to others. embeds_text: what it
    makes of a sentence, for sounds."""

    def encode(self, file: Path) -> np.ndarray: ...
    def similarities(self, queries: Sequence[Any], items: Sequence[np.ndarray]) -> np.ndarray: ...
    def embed_text(self, text: str) -> np.ndarray: ...


@dataclass
class Retrieval(Comparison):
    """The comparison of encoders. captions: of sounds, by the name of an input; None for words."""

    captions: Mapping[str, Sequence[str]] | None = None
    _encoders: dict[str, Encoder] = field(default_factory=dict)

    def _path(self, system: str, name: str) -> Path:
        return self.out / system / f"{name}.npy"

    def _write_recordings(self, source: Item, target: Item | None) -> None:
        """Write none: there is nothing to hear."""

    def _row(self, system: str, source: Item, target: Item | None) -> tuple[str, str, str, str]:
        return system, self._cluster(source.name), "", source.name

    def _cluster(self, name: str) -> str:
        """Return what queries share: the word of a recording, or the sound."""
        match = WORD.match(name) if self.captions is None else None
        return match[0].casefold() if match else name

    def _encoder(self, system: str) -> Encoder:
        if system not in self._encoders:
            self._encoders[system] = self.systems[system]()
        return self._encoders[system]

    def _convert(self, system: str, convert: Any, source: Item, target: Item | None) -> None:
        self._encoders[system] = convert
        assert isinstance(source.value, Path)
        began = time.perf_counter()
        array = np.asarray(convert.encode(source.value))
        seconds = time.perf_counter() - began
        if not array.size or not np.isfinite(array).all():
            raise InputError("The result is no array of numbers.")
        content = io.BytesIO()
        np.save(content, array, allow_pickle=False)
        files.write(self._path(system, source.name), content.getvalue())
        row = self._row(system, source, target)
        self.rows[system, source.name] = [Measure(*row, SECONDS, round(seconds, 4), "wall clock")]

    def _conclude(self) -> None:
        """Rank, and write the means."""
        for key, rows in self.rows.items():
            self.rows[key] = [each for each in rows if each.measure not in (PRECISION, RIGHT)]
        for system in self.systems:
            try:
                self._rank(system)
            except Exception as error:  # noqa: BLE001  (whatever a system raises)
                text = f"{type(error).__name__}: {error}"[:MAX_ERROR]
                row = Measure(system, "", "", "", "", error=text)
                self.rows[system, ""] = [row]
        self._save(at_once=True)
        rows = [each for key in self.rows for each in self.rows[key]]
        summary = measures.summarise(rows, [*self.systems])
        files.write(self.out / NOTES, measures.as_markdown(summary, [*self._notes(rows)]).encode())

    def _rank(self, system: str) -> None:
        """Measure how well a system finds what belongs to each query."""
        names = [each.name for each in self.inputs if self._path(system, each.name).exists()]
        arrays = [np.load(self._path(system, name), allow_pickle=False) for name in names]
        encoder = self._encoder(system)
        if self.captions is None:
            words = np.array([self._cluster(name) for name in names])
            scores = encoder.similarities(arrays, arrays)
            for place, name in enumerate(names):
                others = np.arange(len(names)) != place
                self._add(
                    system, name, name, scores[place][others], (words == words[place])[others]
                )
            return
        for place, name in enumerate(names):
            for text in self.captions.get(name, ()):
                scores = encoder.similarities([encoder.embed_text(text)], arrays)[0]
                self._add(system, name, text, scores, np.arange(len(names)) == place)

    def _add(
        self, system: str, name: str, query: str, scores: np.ndarray, relevant: np.ndarray
    ) -> None:
        """Note average precision, and whether the first is right, of a query that has an answer."""
        if not relevant.any():
            return
        ranks = relevant[np.argsort(-scores, kind="stable")]
        precision = float(np.mean((np.cumsum(ranks) / np.arange(1, len(ranks) + 1))[ranks]))
        row = system, self._cluster(name), "", query
        self.rows.setdefault((system, query), []).extend(
            [
                Measure(*row, PRECISION, round(precision, 6), "names of files"),
                Measure(*row, RIGHT, float(ranks[0]), "names of files"),
            ]
        )

    def _notes(self, rows: Sequence[Measure]) -> Iterable[str]:
        yield WORDS if self.captions is None else SOUNDS


def cosines(queries: Sequence[np.ndarray], items: Sequence[np.ndarray]) -> np.ndarray:
    """Compute cosines of vectors (D,), of an item of several vectors (n, D) the highest: (Q, N)."""
    units = [_units(np.atleast_2d(each)) for each in items]
    rows = _units(np.stack([np.atleast_2d(each)[0] for each in queries]))
    return np.stack([(rows @ each.T).max(axis=1) for each in units], axis=1)


def _units(vectors: np.ndarray) -> np.ndarray:
    vectors = vectors.astype(np.float64)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
