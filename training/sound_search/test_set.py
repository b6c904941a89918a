"""The data of the evaluation: clips, queries, and mixtures of two clips; and the recordings from
elsewhere: sounds of Tux Paint and GCompris, of the Debian packages tuxpaint-stamps-default and
gcompris-qt-data, laid out as the data folder.
"""

import csv
import json
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np

from earshot.media.audio.load import load

QUERIES: Final = Path(__file__).parent / "queries.jsonl"
FOLD: Final = 4  # for validation
CORPUS: Final = "esc50_16k"
SENTENCE: Final = "sentence"  # the style of queries that can be joined to describe two sounds
LEVEL: Final = 0.1  # root mean square of each sound of a mixture
GAMES: Final = Path(__file__).with_name("games.csv")
INSTALLED: Final = Path("/usr/share")
GAMES_FOLD: Final = 5
FOLDER, COMPRESSED = 2, 1  # flags of an entry


@dataclass(frozen=True)
class Budget:
    """The size of an evaluation: clips of each class at most, and mixtures."""

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
        """Load the sound: mono, float32 (T,)."""
        return load(self.path, sample_rate).waveform


@dataclass(frozen=True)
class Query:
    """A text query, and the class of the clips that are relevant."""

    text: str
    label: str
    style: str


@dataclass(frozen=True)
class Mixture:
    """Two clips of different classes, simultaneous or in sequence, and a query for each."""

    clips: tuple[Clip, Clip]
    queries: tuple[Query, Query]
    simultaneous: bool

    @property
    def text(self) -> str:
        """Join the query for both sounds."""
        first, second = (query.text for query in self.queries)
        return f"{first} while {second}" if self.simultaneous else f"{first}, then {second}"

    @property
    def in_other_order(self) -> "Mixture":
        """Swap the clips, so that the second one comes first; the queries stay."""
        return replace(self, clips=self.clips[::-1])

    def waveform(self, sample_rate: int) -> np.ndarray:
        """Mix both clips at the same RMS level: mono, float32 (T,)."""
        first, second = (_at_level(clip.waveform(sample_rate)) for clip in self.clips)
        if self.simultaneous:
            mixed = np.zeros(max(len(first), len(second)), np.float32)
            mixed[: len(first)] += first
            mixed[: len(second)] += second
        else:
            mixed = np.concatenate([first, second])
        return mixed / max(1.0, float(np.abs(mixed).max()))


def choose(
    data: Path, queries: Path, fold: int | None, split: str, budget: Budget
) -> tuple[list[Clip], list[Query], list[Mixture]]:
    """Choose the clips of one fold, the queries for which one of them is relevant, and seeded
    mixtures.

    fold None: FOLD, or every fold if split is ``all`` or there is no FOLD. Omissions and
    substitutions are printed. Raises SystemExit if nothing is left.
    """
    clips = read_clips(data, fold, split)
    if budget.clips:
        clips = _sample(clips, budget.clips)
    chosen = _read_queries(queries, {clip.label for clip in clips})
    return clips, chosen, _mix(clips, chosen, budget.mixtures)


def read_clips(data: Path, fold: int | None, split: str) -> list[Clip]:
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
    chosen = [query for query in queries if query.label in labels]
    if not chosen:
        raise SystemExit(f"No clip is relevant to any query of {path}.")
    if len(chosen) < len(queries):
        print(f"{len(queries) - len(chosen)} queries are left out: no clip is of their class.")
    return chosen


def _sample(clips: list[Clip], count: int) -> list[Clip]:
    """Sample at most ``count`` clips of each class, in the order of the clips."""
    order = np.random.default_rng(0).permutation(len(clips))
    shuffled = _by_label([clips[i] for i in order])
    chosen = {clip for same in shuffled.values() for clip in same[:count]}
    return [clip for clip in clips if clip in chosen]


def _mix(clips: list[Clip], queries: list[Query], count: int) -> list[Mixture]:
    """Draw mixtures, each of a different pair of classes; every second one is simultaneous.

    The query of a class is its first sentence, or its first query if it has no sentence.
    """
    query_of: dict[str, Query] = {}
    for query in sorted(queries, key=lambda query: query.style != SENTENCE):
        query_of.setdefault(query.label, query)
    rng = np.random.default_rng(0)
    pool = _by_label(clips)
    pairs = rng.permutation(list(combinations(sorted(query_of), 2)))[:count]
    mixtures = []
    for number, pair in enumerate(pairs):
        first, second = (str(label) for label in rng.permutation(pair))
        drawn = (_draw(pool[first], rng), _draw(pool[second], rng))
        mixtures.append(Mixture(drawn, (query_of[first], query_of[second]), number % 2 == 0))
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


def lay_out(out: Path, installed: Path = INSTALLED) -> int:
    """Copy the sounds of games.csv to a folder with a manifest, and count them.

    Raises SystemExit if one of the packages is not installed.
    """
    folder = out / "sounds" / CORPUS
    folder.mkdir(parents=True, exist_ok=True)
    manifest = []
    for row in csv.DictReader(GAMES.read_text(encoding="utf-8").splitlines()):
        source = installed / row["file"]
        if not source.exists():
            raise SystemExit(f"{source} is missing: install the package that it belongs to.")
        content = member(source, row["member"]) if row["member"] else source.read_bytes()
        name = "-".join([source.stem, Path(row["member"]).name or source.name])
        (folder / name).write_bytes(content)
        manifest.append([CORPUS, f"{CORPUS}/{name}", row["label"], GAMES_FOLD, "", ""])
    with (out / "sounds" / "manifest.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["set", "path", "label", "fold", "source_title", "notes"])
        writer.writerows(manifest)
    return len(manifest)


def member(archive: Path, name: str) -> bytes:
    """Read the file of a Qt resource archive (.rcc) whose path ends in a name."""
    return next(content for path, content in _files(archive.read_bytes()) if path.endswith(name))


def _files(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every file of a Qt resource archive, as its header describes
    them.
    """
    version, tree, contents, names = struct.unpack(">4I", data[4:20])
    entry_size = 22 if version > 1 else 14

    def walk(number: int, path: str) -> Iterator[tuple[str, bytes]]:
        entry = data[tree + number * entry_size :]
        name, flags = struct.unpack(">IH", entry[:6])
        if number:  # the first entry is the root, which has no name
            (length,) = struct.unpack_from(">H", data, names + name)
            path += "/" + data[names + name + 6 :][: 2 * length].decode("utf-16-be")
        if flags & FOLDER:
            count, first = struct.unpack(">2I", entry[6:14])
            for child in range(first, first + count):
                yield from walk(child, path)
            return
        start = contents + struct.unpack(">I", entry[10:14])[0]
        (size,) = struct.unpack_from(">I", data, start)
        content = data[start + 4 : start + 4 + size]
        yield path, zlib.decompress(content[4:]) if flags & COMPRESSED else content

    yield from walk(0, "")
