"""What sound search is measured on: clips, queries, and mixtures of two clips."""

import csv
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np

from media.audio.load import load

QUERIES: Final = Path(__file__).parent / "queries.jsonl"
FOLD: Final = 4  # the one that validates
CORPUS: Final = "esc50_16k"
SENTENCE: Final = "sentence"  # the style of queries that can be joined to name two sounds
LEVEL: Final = 0.1  # root mean square of each sound of a mixture


@dataclass(frozen=True)
class Budget:
    """How much is measured: clips of a class at most, and mixtures."""

    clips: int | None = None
    mixtures: int = 100


QUICK: Final = Budget(clips=5, mixtures=20)


@dataclass(frozen=True)
class Clip:
    """A recording of one class."""

    path: Path
    label: str
    fold: int

    def waveform(self, sample_rate: int) -> np.ndarray:
        """Mono, float32 (T,)."""
        return load(self.path, sample_rate).waveform


@dataclass(frozen=True)
class Query:
    """What somebody types, and the class of the clips that answer it."""

    text: str
    label: str
    style: str


@dataclass(frozen=True)
class Mixture:
    """Two clips of different classes, at once or one after the other, and a query for each."""

    clips: tuple[Clip, Clip]
    queries: tuple[Query, Query]
    at_once: bool

    @property
    def text(self) -> str:
        """The query that names both sounds."""
        first, second = (query.text for query in self.queries)
        return f"{first} while {second}" if self.at_once else f"{first}, then {second}"

    def waveform(self, sample_rate: int) -> np.ndarray:
        """Mono, float32 (T,), both sounds at the same level."""
        first, second = (_at_level(clip.waveform(sample_rate)) for clip in self.clips)
        if self.at_once:
            mixed = np.zeros(max(len(first), len(second)), np.float32)
            mixed[: len(first)] += first
            mixed[: len(second)] += second
        else:
            mixed = np.concatenate([first, second])
        return mixed / max(1.0, float(np.abs(mixed).max()))


def choose(
    data: Path, queries: Path, fold: int | None, split: str, budget: Budget
) -> tuple[list[Clip], list[Query], list[Mixture]]:
    """The clips of one fold, the queries that any of them answers, and seeded mixtures.

    fold None: FOLD, or every fold where split is ``all`` or there is no FOLD. What is left out,
    or taken instead, is printed. Raises SystemExit where nothing is left.
    """
    clips = _read_clips(data, fold, split)
    if budget.clips:
        clips = _sample(clips, budget.clips)
    asked = _read_queries(queries, {clip.label for clip in clips})
    return clips, asked, _mix(clips, asked, budget.mixtures)


def _read_clips(data: Path, fold: int | None, split: str) -> list[Clip]:
    manifest = data / "sounds" / "manifest.csv"
    if not manifest.exists():
        raise SystemExit(f"There are no sounds: {manifest} is missing.")
    with manifest.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["set"] == CORPUS]
    clips = [Clip(manifest.parent / r["path"], r["label"], int(float(r["fold"]))) for r in rows]
    folds = {clip.fold for clip in clips}
    if fold is None and split == "test" and FOLD in folds:
        fold = FOLD
    elif fold is None and split == "test":
        print(f"There is no fold {FOLD} in {manifest}: every clip is ranked.")
    chosen = [clip for clip in clips if fold in (None, clip.fold)]
    if not chosen:
        raise SystemExit(f"{manifest} has no clips of fold {fold}, only of {sorted(folds)}.")
    return chosen


def _read_queries(path: Path, labels: set[str]) -> list[Query]:
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    queries = [Query(r["query"], r["relevant_class"], r.get("style", "unknown")) for r in rows]
    kept = [query for query in queries if query.label in labels]
    if not kept:
        raise SystemExit(f"No clip answers any query of {path}.")
    if len(kept) < len(queries):
        print(f"{len(queries) - len(kept)} queries are left out: no clip is of their class.")
    return kept


def _sample(clips: list[Clip], count: int) -> list[Clip]:
    """At most so many of each class, in the order of the clips."""
    order = np.random.default_rng(0).permutation(len(clips))
    shuffled = _by_label([clips[i] for i in order])
    kept = {clip for alike in shuffled.values() for clip in alike[:count]}
    return [clip for clip in clips if clip in kept]


def _mix(clips: list[Clip], queries: list[Query], count: int) -> list[Mixture]:
    """Every mixture is of another pair of classes, every second one at once.

    A class is asked for by its first query in sentences, or by its first if there is none.
    """
    asked: dict[str, Query] = {}
    for query in sorted(queries, key=lambda query: query.style != SENTENCE):
        asked.setdefault(query.label, query)
    rng = np.random.default_rng(0)
    pool = _by_label(clips)
    pairs = rng.permutation(list(combinations(sorted(asked), 2)))[:count]
    mixtures = []
    for number, pair in enumerate(pairs):
        first, second = (str(label) for label in rng.permutation(pair))
        drawn = (_draw(pool[first], rng), _draw(pool[second], rng))
        mixtures.append(Mixture(drawn, (asked[first], asked[second]), number % 2 == 0))
    return mixtures


def _by_label(clips: Sequence[Clip]) -> dict[str, list[Clip]]:
    groups: dict[str, list[Clip]] = defaultdict(list)
    for clip in clips:
        groups[clip.label].append(clip)
    return groups


def _draw(clips: list[Clip], rng: np.random.Generator) -> Clip:
    return clips[rng.integers(len(clips))]


def _at_level(waveform: np.ndarray) -> np.ndarray:
    return waveform * np.float32(LEVEL / max(float(np.sqrt(np.mean(waveform**2))), 1e-6))
