"""Two libraries of one encoder, searched as one: our sounds and a visitor's, for example."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import overload

import numpy as np

from earshot.sound_index import map_layout
from earshot.sound_index.filter import Filter
from earshot.sound_index.library import Library, Ranking
from earshot.sound_index.sound import Entry, Sound


class JointLibrary(Library):
    """The sounds of one library, then those of another, which lie on the map of the first among the
    sounds that they are like. A sound that both have is known as the first's."""

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
        found = []
        for part, begin in ((self._first, 0), (self._second, self._begin)):
            some = None if among is None else among[begin : begin + len(part.sounds)]
            if part.sounds and (some is None or some.any()):
                near = part.find(query, min_sounds, some)
                found.append(near._replace(numbers=near.numbers + begin))
        numbers, scores, segments = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.argsort(-scores, kind="stable")
        return Ranking(numbers[order], scores[order], segments[order])


class _Chain(Sequence[Sound]):
    """The sounds of two libraries, one after the other."""

    def __init__(self, first: Sequence[Sound], second: Sequence[Sound]) -> None:
        self._first, self._second = first, second

    def __len__(self) -> int:
        return len(self._first) + len(self._second)

    @overload
    def __getitem__(self, number: int) -> Sound: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Sound]: ...
    def __getitem__(self, number: int | slice) -> Sound | Sequence[Sound]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
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
        places[number] = map_layout.place(near.scores[None], first.layout[near.numbers])[0]
    return places
