"""A searchable library of sounds: add files, remove them, save the index, open it again."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from media import cancellation
from media.audio.load import SILENT_PEAK, load
from media.errors import InputError
from pipelines.nearest import Nearest
from pipelines.sound_search import store
from pipelines.sound_search.encoder import SoundEncoder
from pipelines.sound_search.library import Description, Entry, Library, Sound

MAX_SECONDS: Final = 3600.0  # of one file

Progress = Callable[[int, int, str], None]  # files done, files in all, name of the next one
Captions = Mapping[str, Description]  # by the name of the file


@dataclass(frozen=True)
class Report:
    """Counts of files; skipped: (name, reason) of each file that could not be used."""

    added: int
    unchanged: int
    removed: int
    skipped: tuple[tuple[str, str], ...]


class SoundIndex:
    """The sounds of one library, embedded by one encoder. Holds no state of any visitor."""

    def __init__(self, encoder: SoundEncoder, library: Library) -> None:
        self.encoder = encoder
        self.library = library

    @classmethod
    def empty(cls, encoder: SoundEncoder) -> "SoundIndex":
        """An index without sounds."""
        nothing = np.zeros((0, encoder.dimension), np.float32)
        return cls(encoder, Library([], Nearest(nothing)))

    @classmethod
    def open(cls, folder: str | Path, encoder: SoundEncoder) -> "SoundIndex":
        """Open a saved index.

        Raises InputError if there is none, it is damaged, or another model made it.
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
        """Write the index to a folder, atomically: a reader gets the old index or the new one."""
        about = store.About(self.encoder.name, self.encoder.fingerprint)
        store.write(Path(folder), self.library, about)

    @property
    def sounds(self) -> tuple[Sound, ...]:
        return self.library.sounds

    def __contains__(self, sound_id: object) -> bool:
        return sound_id in self.library.numbers

    def __getitem__(self, sound_id: str) -> Sound:
        """The sound with this id. Raises InputError if there is none, or no longer."""
        return self.library.entry(sound_id).sound

    def layout(self) -> np.ndarray:
        """Coordinates of the sounds on the map, in [0, 1]: float32 (n, 2)."""
        return self.library.layout

    def add(
        self,
        paths: Iterable[str | Path],
        captions: Captions | None = None,
        progress: Progress | None = None,
        cache: Path | None = None,
    ) -> Report:
        """Add files, or update them; only new content is embedded.

        A file that cannot be used is skipped, and removed if the index held it. ``cache``: a folder
        in which each embedding is saved at once, so that an interrupted call can be resumed. If
        ``progress`` raises, the index stays unchanged.
        """
        files = list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))
        entries = {entry.sound.path: entry for entry in self.library.entries}
        known = {entry.sound.content_hash: entry for entry in self.library.entries}
        taken = set(self.library.numbers)
        unchanged, skipped = 0, []
        for number, path in enumerate(files):
            cancellation.check()
            if progress:
                progress(number, len(files), path.name)
            old = entries.get(path)
            try:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                entry = known.get(digest) or self._embed(path, digest, cache)
            except (InputError, OSError) as error:
                skipped.append((path.name, getattr(error, "strerror", None) or str(error)))
                entries.pop(path, None)
                continue
            known[digest] = entry
            sound_id, known_as = _new_id(digest, path.name, taken), Description()
            if old and old.sound.content_hash == digest:
                sound_id, known_as = old.sound.id, old.sound.description
                unchanged += 1
            taken.add(sound_id)
            about = (captions or {}).get(path.name, known_as)
            fields = {**about._asdict(), "seconds": entry.sound.seconds, "content_hash": digest}
            sound = Sound(sound_id, path, path.name, **fields)
            entries[path] = replace(entry, sound=sound)
        if progress:
            progress(len(files), len(files), "")
        self.library = self._rebuilt(list(entries.values()))
        return Report(len(files) - unchanged - len(skipped), unchanged, 0, tuple(skipped))

    def remove(self, sound_ids: Collection[str]) -> None:
        """Remove the sounds with these ids; the others keep their coordinates on the map."""
        stays = np.array([sound.id not in sound_ids for sound in self.sounds], dtype=bool)
        entries = [entry for entry, stay in zip(self.library.entries, stays, strict=True) if stay]
        self.library = self._rebuilt(entries, self.library.layout[stays])

    def search(self, query: np.ndarray, limit: int = 10) -> list[tuple[Sound, float, int]]:
        """Sounds nearest to a unit vector (D,): (sound, score, number of its best segment)."""
        library = self.library
        numbers, scores, segments = (part[:limit] for part in library.find(query, limit))
        sounds = [library.sounds[number] for number in numbers]
        return list(zip(sounds, scores.tolist(), segments.tolist(), strict=True))

    def per_second_scores(self, sound_id: str, query: np.ndarray) -> np.ndarray:
        """Cosine similarity of every second of a sound with a unit vector (D,): float32 (S,).

        Raises InputError if there is no such sound.
        """
        return self.library.entry(sound_id).per_second.astype(np.float32) @ query

    def _embed(self, path: Path, digest: str, cache: Path | None) -> Entry:
        """Raises InputError for a file that is not audio, or silent."""
        file = cache / f"{digest}.npz" if cache else None
        if file and file.exists():
            return store.read_entry(file, path, digest)
        waveform = load(path, self.encoder.sample_rate, MAX_SECONDS, min_seconds=0.0).waveform
        if np.abs(waveform).max() < SILENT_PEAK:
            raise InputError("This file is silent from beginning to end.")
        vectors, per_second = embed(self.encoder, waveform)
        length = len(waveform) / self.encoder.sample_rate
        sound = Sound("", path, path.name, "", "", length, digest)
        entry = Entry(sound, vectors, per_second)
        if file:
            store.write_entry(file, entry)
        return entry

    def _rebuilt(self, entries: Sequence[Entry], layout: np.ndarray | None = None) -> Library:
        old = self.library
        if [id(entry.vectors) for entry in entries] == [id(entry.vectors) for entry in old.entries]:
            return Library(entries, old.nearest, old.layout)  # only kinds or captions changed
        parts = [entry.vectors for entry in entries]
        vectors = np.concatenate([old.nearest.vectors[:0], *parts])
        views = np.split(vectors, np.cumsum([len(part) for part in parts]))
        entries = [
            replace(entry, vectors=view) for entry, view in zip(entries, views, strict=False)
        ]
        return Library(entries, Nearest(vectors, like=old.nearest), layout)


def embed(encoder: SoundEncoder, waveform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A waveform (T,) → vectors of N segments, float32 (N, D), and S seconds, float16 (S, D)."""
    segments = encoder.segments(waveform)
    embedding = encoder.embed_audio(segments)
    # Each second takes the vector of the segment's second that contains its midpoint.
    total, length = len(waveform) / encoder.sample_rate, segments.shape[1] / encoder.sample_rate
    begin = np.arange(np.ceil(total))
    middle = (begin + np.minimum(begin + 1, total)) / 2
    segment = np.minimum(middle // length, len(segments) - 1).astype(int)
    within = np.minimum(middle - segment * length, embedding.per_second.shape[1] - 1).astype(int)
    return embedding.vectors, embedding.per_second[segment, within].astype(np.float16)


def _new_id(digest: str, name: str, taken: Collection[str]) -> str:
    """The same id for the same content and name, unless it is taken already."""
    number = 0
    while True:
        sound_id = hashlib.sha256(f"{digest}/{name}/{number}".encode()).hexdigest()[:16]
        if sound_id not in taken:
            return sound_id
        number += 1
