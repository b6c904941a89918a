"""The sounds of an index with their vectors: an immutable snapshot, or two searched as one."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple, TypeVar, overload

import numpy as np

from earshot.core.errors import InputError
from earshot.sound_index.nearest import MAX_EXACT, Nearest, map_layout, place_on_map
from earshot.sound_index.sound import Entry, Filter, Sound

T = TypeVar("T")
POOL: Final = 1000  # the nearest segments, whose sounds a search ranks


class Ranking(NamedTuple):
    """Sounds, best first, as columns (m,): positions in the library, scores (of the best segment of
    each), and the numbers of these segments."""

    numbers: np.ndarray
    scores: np.ndarray
    segments: np.ndarray


class Library:
    """A snapshot of an index: searches go on in one while the next is built.

    on_disk: whether a search reads what it finds from the disk.
    """

    on_disk: bool = False

    entries: Sequence[Entry]
    sounds: Sequence[Sound]
    numbers: Mapping[str, int]  # the position of a sound by its id
    layout: np.ndarray  # coordinates on the map (n, 2)

    def __init__(
        self, entries: Sequence[Entry], nearest: Nearest, layout: np.ndarray | None = None
    ) -> None:
        """Keep the entries. nearest: of the vectors of all entries, in order; layout (n, 2):
        computed if None.
        """
        self.entries = tuple(entries)
        self.nearest = nearest
        self.sounds = tuple(entry.sound for entry in entries)
        self.numbers = {sound.id: number for number, sound in enumerate(self.sounds)}
        counts = [len(entry.vectors) for entry in entries]
        # The first row of each sound, and the number of rows: (n + 1,)
        self.first_rows = np.cumsum([0, *counts])
        self.layout = map_layout(self._means) if layout is None else layout

    @cached_property
    def _means(self) -> np.ndarray:
        """Average the segments of each sound, normalised: (n, D)."""
        vectors = self.nearest.vectors[:]
        sums = np.add.reduceat(vectors, self.first_rows[:-1], axis=0) if len(vectors) else vectors
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    @cached_property
    def licences(self) -> tuple[str, ...]:
        """List the licences of all sounds, sorted."""
        return tuple(sorted({sound.licence for sound in self.sounds} - {""}))

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """List the tags of all sounds, sorted."""
        return tuple(sorted({tag for sound in self.sounds for tag in sound.tags}))

    @cached_property
    def _copies(self) -> Counter[str]:
        return Counter(sound.content_hash for sound in self.sounds)

    @cached_property
    def _by_path(self) -> dict[Path, Sound]:
        return {sound.path: sound for sound in self.sounds}

    @cached_property
    def _by_content(self) -> dict[str, Entry]:
        return {entry.sound.content_hash: entry for entry in self.entries}

    def at(self, path: Path) -> Sound | None:
        """Find the sound of this file, if it is in the library."""
        return self._by_path.get(path)

    def with_content(self, content_hash: str) -> Entry | None:
        """Find a sound with this content, if there is one."""
        return self._by_content.get(content_hash)

    def in_memory(self) -> "Library":
        """Read the whole library into memory."""
        return self

    def means(self, numbers: np.ndarray) -> np.ndarray:
        """Average the segments of each of m sounds, normalised: (m, D)."""
        return self._means[numbers]

    def copies(self, content_hash: str) -> int:
        """Count the sounds with this content."""
        return self._copies[content_hash]

    def per_second(self, number: int) -> np.ndarray:
        """Return unit vectors of the seconds of a sound: float16 (S, D)."""
        return self.entries[number].per_second

    def passing(self, only: Filter) -> np.ndarray:
        """Mark the sounds that pass the filter: (n,)."""
        return np.array([only(sound) for sound in self.sounds], bool)

    def entry(self, sound_id: str) -> Entry:
        """Find the sound with this id. Raises InputError if there is none, or no longer."""
        number = self.numbers.get(sound_id)
        if number is None:
            raise InputError("This sound is no longer in the library. Search again.")
        return self.entries[number]

    def find(
        self, query: np.ndarray, min_sounds: int = 10, among: np.ndarray | None = None
    ) -> Ranking:
        """Rank the sounds of the POOL segments that are nearest to a unit vector (D,).

        More segments are taken where these belong to fewer than ``min_sounds`` sounds. among (n,):
        the sounds that may be found; every one of them is, if they have MAX_EXACT segments at
        most.
        """
        query, limit, total = query.astype(np.float32), POOL, int(self.first_rows[-1])
        rows_among = None
        if among is not None:
            rows_among = np.flatnonzero(np.repeat(among, np.diff(self.first_rows)))
            total = len(rows_among)
            limit = total if total <= MAX_EXACT else POOL
        while True:
            scores, rows = self.nearest.search(query, limit, rows_among)
            ranking = self._best_of_each(scores, rows)
            enough = len(ranking.numbers) >= min_sounds or len(rows) < limit
            if enough or limit >= total:
                return ranking
            limit *= 4

    def _best_of_each(self, scores: np.ndarray, rows: np.ndarray) -> Ranking:
        """Keep the first segment of each sound, of segments, best first."""
        sounds = np.searchsorted(self.first_rows, rows, side="right") - 1
        _, first = np.unique(sounds, return_index=True)
        best = np.sort(first)
        numbers = sounds[best]
        return Ranking(numbers, scores[best], rows[best] - self.first_rows[numbers])


class JointLibrary(Library):
    """The sounds of one library, then those of another of the same encoder: ours and a visitor's.

    The second's lie on the map of the first, among the sounds that they are like. A sound that both
    have is the first's.
    """

    def __init__(self, first: Library, second: Library) -> None:
        self._first, self._second, self._begin = first, second, len(first.sounds)
        self.sounds = _Chain(first.sounds, second.sounds)
        self.numbers = _Numbers(first.numbers, second.numbers, self._begin)
        self.layout = np.concatenate([first.layout, _places(first, second)])

    @property
    def licences(self) -> tuple[str, ...]:
        return tuple(sorted({*self._first.licences, *self._second.licences}))

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(sorted({*self._first.tags, *self._second.tags}))

    def at(self, path: Path) -> Sound | None:
        return self._first.at(path) or self._second.at(path)

    def with_content(self, content_hash: str) -> Entry | None:
        return self._first.with_content(content_hash) or self._second.with_content(content_hash)

    def entry(self, sound_id: str) -> Entry:
        return (self._first if sound_id in self._first.numbers else self._second).entry(sound_id)

    def means(self, numbers: np.ndarray) -> np.ndarray:
        numbers, begin = np.asarray(numbers), self._begin
        means = np.empty((len(numbers), self._second.nearest.vectors.shape[1]), np.float32)
        for part, inside, offset in (
            (self._first, numbers < begin, 0),
            (self._second, numbers >= begin, begin),
        ):
            if inside.any():
                means[inside] = part.means(numbers[inside] - offset)
        return means

    def copies(self, content_hash: str) -> int:
        return self._first.copies(content_hash) + self._second.copies(content_hash)

    def per_second(self, number: int) -> np.ndarray:
        if number < self._begin:
            return self._first.per_second(number)
        return self._second.per_second(number - self._begin)

    def passing(self, only: Filter) -> np.ndarray:
        return np.concatenate([self._first.passing(only), self._second.passing(only)])

    def find(
        self, query: np.ndarray, min_sounds: int = 10, among: np.ndarray | None = None
    ) -> Ranking:
        rankings = []
        for part, begin in ((self._first, 0), (self._second, self._begin)):
            some = None if among is None else among[begin : begin + len(part.sounds)]
            if part.sounds and (some is None or some.any()):
                near = part.find(query, min_sounds, some)
                rankings.append(near._replace(numbers=near.numbers + begin))
        columns = zip(*rankings, strict=True)
        numbers, scores, segments = (np.concatenate(column) for column in columns)
        order = np.argsort(-scores, kind="stable")
        return Ranking(numbers[order], scores[order], segments[order])


class LazySequence(Sequence[T]):
    """A sequence whose elements are read, or looked up, when they are asked for."""

    @overload
    def __getitem__(self, number: int) -> T: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[T]: ...
    def __getitem__(self, number: int | slice) -> T | Sequence[T]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        return self._at(number)

    @abstractmethod
    def _at(self, number: int) -> T: ...


class _Chain(LazySequence[Sound]):
    """The sounds of two libraries, one after the other."""

    def __init__(self, first: Sequence[Sound], second: Sequence[Sound]) -> None:
        self._first, self._second = first, second

    def __len__(self) -> int:
        return len(self._first) + len(self._second)

    def _at(self, number: int) -> Sound:
        begin = len(self._first)
        return self._first[number] if number < begin else self._second[number - begin]


class _Numbers(Mapping[str, int]):
    """A map from the id of each sound to its position."""

    def __init__(self, first: Mapping[str, int], second: Mapping[str, int], begin: int) -> None:
        self._first, self._second, self._begin = first, second, begin

    def __getitem__(self, sound_id: str) -> int:
        number = self._first.get(sound_id)
        return self._begin + self._second[sound_id] if number is None else number

    def __iter__(self) -> Iterator[str]:
        yield from self._first
        yield from (sound_id for sound_id in self._second if sound_id not in self._first)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _places(first: Library, second: Library) -> np.ndarray:
    """Place the sounds of the second library on the map of the first: (m, 2)."""
    if not first.sounds or not second.sounds:
        return second.layout
    places = np.empty((len(second.sounds), 2), np.float32)
    for number, mean in enumerate(second.means(np.arange(len(second.sounds)))):
        near = first.find(mean)
        places[number] = place_on_map(near.scores[None], first.layout[near.numbers])[0]
    return places
