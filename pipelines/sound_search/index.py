"""A library that can be searched: add files, remove them, save it, and open it again at once."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from media.audio.load import SILENT_PEAK, load
from media.errors import InputError
from pipelines.nearest import Nearest
from pipelines.sound_search import store
from pipelines.sound_search.encoder import SoundEncoder
from pipelines.sound_search.library import Entry, Library, Sound

MAX_SECONDS: Final = 3600.0  # of one file

Progress = Callable[[int, int, str], None]  # files done, files in all, name of the next one
Captions = Mapping[str, tuple[str, str]]  # name of a file → its kind and its caption


@dataclass(frozen=True)
class Report:
    """What was done, in files; skipped: names, each with the reason."""

    added: int
    unchanged: int
    removed: int
    skipped: tuple[tuple[str, str], ...]


class SoundIndex:
    """The sounds of one library, embedded by one encoder. Remembers nothing of who searches."""

    def __init__(self, encoder: SoundEncoder, library: Library) -> None:
        self.encoder = encoder
        self.library = library

    @classmethod
    def empty(cls, encoder: SoundEncoder) -> "SoundIndex":
        """An index to which sounds can be added."""
        nothing = np.zeros((0, encoder.dimension), np.float32)
        return cls(encoder, Library([], Nearest(nothing)))

    @classmethod
    def open(cls, folder: str | Path, encoder: SoundEncoder) -> "SoundIndex":
        """Open a saved index.

        Raises InputError where there is none, it is damaged, or another model made it.
        """
        about, library = store.read(Path(folder))
        if about.fingerprint != encoder.fingerprint:
            raise InputError(
                f"Another model made this index: {about.encoder}, and now it is {encoder.name}. "
                "Choose that one with --sound-model, or delete the index and make it again with: "
                "python -m pipelines.sound_search index FOLDER"
            )
        return cls(encoder, library)

    def save(self, folder: str | Path) -> None:
        """Keep the index in a folder; who opens it meanwhile gets the old one or the new one."""
        about = store.About(self.encoder.name, self.encoder.fingerprint)
        store.write(Path(folder), self.library, about)

    @property
    def sounds(self) -> tuple[Sound, ...]:
        return self.library.sounds

    def __contains__(self, identity: object) -> bool:
        return identity in self.library.numbers

    def __getitem__(self, identity: str) -> Sound:
        """The sound with this id. Raises InputError where there is none (any more)."""
        return self.library.entry(identity).sound

    def layout(self) -> np.ndarray:
        """Places of the sounds on a map, in [0, 1]: float32 (n, 2)."""
        return self.library.layout

    def add(
        self,
        paths: Iterable[str | Path],
        captions: Captions | None = None,
        progress: Progress | None = None,
        kept: Path | None = None,
    ) -> Report:
        """Add files, or bring them up to date; only content that is new is embedded.

        A file that cannot be used is skipped, and leaves the index if it was there. ``kept``: a
        folder that keeps each embedding from the moment it is made, so that an addition that is
        cut off goes on from there. Should ``progress`` raise, the index stays as it was.
        """
        files = list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))
        entries = {entry.sound.path: entry for entry in self.library.entries}
        known = {entry.sound.content_hash: entry for entry in self.library.entries}
        taken = set(self.library.numbers)
        unchanged, skipped = 0, []
        for number, path in enumerate(files):
            if progress:
                progress(number, len(files), path.name)
            old = entries.get(path)
            try:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                entry = known.get(digest) or self._embed(path, digest, kept)
            except (InputError, OSError) as error:
                skipped.append((path.name, getattr(error, "strerror", None) or str(error)))
                entries.pop(path, None)
                continue
            known[digest] = entry
            identity, words = _identity(digest, path.name, taken), ("", "")
            if old and old.sound.content_hash == digest:
                identity, words = old.sound.id, (old.sound.kind, old.sound.caption)
                unchanged += 1
            taken.add(identity)
            kind, caption = (captions or {}).get(path.name, words)
            sound = Sound(identity, path, path.name, caption, kind, entry.sound.seconds, digest)
            entries[path] = replace(entry, sound=sound)
        if progress:
            progress(len(files), len(files), "")
        self.library = self._rebuilt(list(entries.values()))
        return Report(len(files) - unchanged - len(skipped), unchanged, 0, tuple(skipped))

    def remove(self, identities: Collection[str]) -> None:
        """Take out the sounds with these ids; the others keep their places on the map."""
        kept = np.array([sound.id not in identities for sound in self.sounds], dtype=bool)
        entries = [entry for entry, keep in zip(self.library.entries, kept, strict=True) if keep]
        self.library = self._rebuilt(entries, self.library.layout[kept])

    def search(self, query: np.ndarray, limit: int = 10) -> list[tuple[Sound, float, int]]:
        """Sounds nearest to a unit vector (D,), each with its score and its best segment."""
        library = self.library
        numbers, scores, segments = (part[:limit] for part in library.find(query, limit))
        sounds = [library.sounds[number] for number in numbers]
        return list(zip(sounds, scores.tolist(), segments.tolist(), strict=True))

    def score_seconds(self, identity: str, query: np.ndarray) -> np.ndarray:
        """Scores with a unit vector (D,) of every second of a sound: float32 (S,).

        Raises InputError where there is no such sound.
        """
        return self.library.entry(identity).seconds.astype(np.float32) @ query

    def _embed(self, path: Path, digest: str, kept: Path | None) -> Entry:
        """Raises InputError for a file that is no sound, or a silent one."""
        file = kept / f"{digest}.npz" if kept else None
        if file and file.exists():
            return store.read_entry(file, path, digest)
        waveform = load(path, self.encoder.sample_rate, MAX_SECONDS, min_seconds=0.0).waveform
        if np.abs(waveform).max() < SILENT_PEAK:
            raise InputError("This file is silent from beginning to end.")
        vectors, seconds = embed(self.encoder, waveform)
        length = len(waveform) / self.encoder.sample_rate
        sound = Sound("", path, path.name, "", "", length, digest)
        entry = Entry(sound, vectors, seconds)
        if file:
            store.write_entry(file, entry)
        return entry

    def _rebuilt(self, entries: Sequence[Entry], layout: np.ndarray | None = None) -> Library:
        old = self.library
        if [id(entry.vectors) for entry in entries] == [id(entry.vectors) for entry in old.entries]:
            return Library(entries, old.nearest, old.layout)  # only words changed
        parts = [entry.vectors for entry in entries]
        vectors = np.concatenate([old.nearest.vectors[:0], *parts])
        views = np.split(vectors, np.cumsum([len(part) for part in parts]))
        entries = [
            replace(entry, vectors=view) for entry, view in zip(entries, views, strict=False)
        ]
        return Library(entries, Nearest(vectors, like=old.nearest), layout)


def embed(encoder: SoundEncoder, waveform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors of the segments, float32 (N, D), and of all seconds, float16 (S, D), of (T,)."""
    segments = encoder.segments(waveform)
    embedding = encoder.embed_audio(segments)
    # A second belongs to the segment, and to the second of that segment, in which its middle lies.
    total, length = len(waveform) / encoder.sample_rate, segments.shape[1] / encoder.sample_rate
    begin = np.arange(np.ceil(total))
    middle = (begin + np.minimum(begin + 1, total)) / 2
    segment = np.minimum(middle // length, len(segments) - 1).astype(int)
    cell = np.minimum(middle - segment * length, embedding.seconds.shape[1] - 1).astype(int)
    return embedding.vectors, embedding.seconds[segment, cell].astype(np.float16)


def _identity(digest: str, name: str, taken: Collection[str]) -> str:
    """The same for the same content and name, unless a sound of the library has it already."""
    number = 0
    while True:
        identity = hashlib.sha256(f"{digest}/{name}/{number}".encode()).hexdigest()[:16]
        if identity not in taken:
            return identity
        number += 1
