"""A searchable library of sounds: add files, remove them, save the index, open it again."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from earshot.core.errors import InputError
from earshot.sound_index import saved
from earshot.sound_index.embedding import Captions, Progress, entries_of
from earshot.sound_index.encoder import SoundEncoder
from earshot.sound_index.files import Hashes
from earshot.sound_index.library import Library
from earshot.sound_index.manifest import About
from earshot.sound_index.nearest import Nearest
from earshot.sound_index.sound import Entry, Sound


@dataclass(frozen=True)
class Report:
    """The counts of files of a scan; skipped: what could not be used, or opened, and why; noticed:
    what is not as it should be about those that were added."""

    added: int
    unchanged: int
    removed: int
    skipped: tuple[tuple[Path, str], ...]
    noticed: tuple[tuple[Path, str], ...] = ()


class SoundIndex:
    """The sounds of one library, embedded by one encoder. Holds no state of any visitor."""

    def __init__(self, encoder: SoundEncoder, library: Library) -> None:
        self.encoder = encoder
        self.library = library

    @classmethod
    def empty(cls, encoder: SoundEncoder) -> "SoundIndex":
        """Make an index without sounds."""
        nothing = np.zeros((0, encoder.dimension), np.float32)
        return cls(encoder, Library([], Nearest(nothing)))

    @classmethod
    def open(
        cls, folder: str | Path, encoder: SoundEncoder, backend: str | None = None
    ) -> "SoundIndex":
        """Open a saved index. backend: one of BACKENDS, if not that which it was made for.

        Raises InputError if there is none, it is damaged, another model made it, or it is not made
        for the disk and should be searched there.
        """
        about, library = saved.read(Path(folder), backend)
        if about.fingerprint != encoder.fingerprint:
            raise InputError(
                f"Another model made this index: {about.encoder}, and now it is {encoder.name}. "
                "Choose that one with --sound-model, or delete the index and make it again with: "
                "python -m earshot sounds index FOLDER"
            )
        return cls(encoder, library)

    def save(self, folder: str | Path, backend: str | None = None) -> None:
        """Write the index to a folder, atomically: a reader gets the old index or the new one.

        backend: one of BACKENDS, which it is made for; None for that which it has now.
        """
        if backend == "disk" or (backend is None and self.on_disk):
            from earshot.sound_index import disk  # late: an optional extra

            disk.write(Path(folder), self.library, self.about, self.encoder.dimension)
        else:
            saved.write(Path(folder), self.library.in_memory(), self.about)

    @property
    def about(self) -> About:
        """Name the model that embedded the sounds."""
        return About(self.encoder.name, self.encoder.fingerprint)

    @property
    def on_disk(self) -> bool:
        """Tell whether a search reads what it finds from the disk."""
        return self.library.on_disk

    @property
    def sounds(self) -> Sequence[Sound]:
        return self.library.sounds

    def __contains__(self, sound_id: object) -> bool:
        return sound_id in self.library.numbers

    def __getitem__(self, sound_id: str) -> Sound:
        """Find the sound with this id. Raises InputError if there is none, or no longer."""
        return self.library.entry(sound_id).sound

    def layout(self) -> np.ndarray:
        """Give coordinates of the sounds on the map, in [0, 1]: float32 (n, 2)."""
        return self.library.layout

    def add(
        self,
        paths: Iterable[str | Path],
        captions: Captions | None = None,
        progress: Progress | None = None,
        cache: Path | None = None,
        hashes: Hashes | None = None,
    ) -> Report:
        """Add files, or update them; only new content is embedded.

        A file that cannot be used is skipped, and removed if the index held it; one that cannot be
        opened is skipped, and kept if the index held it. ``cache``: a folder
        in which each embedding is saved at once, so that an interrupted call can be resumed.
        hashes: of the content of files, which need not be read for it; the others are added. If
        ``progress`` raises, or a bucket cannot be read (UnreachableError), the index stays
        unchanged.
        """
        entries = {entry.sound.path: entry for entry in self.library.entries}
        added, unchanged, skipped, noticed = 0, 0, [], []
        for path, entry, reason, notices in entries_of(
            self.library, self.encoder, paths, captions, progress, cache, hashes
        ):
            if reason:
                skipped.append((path, reason))
            elif entry:
                same = path in entries and entries[path].sound.id == entry.sound.id
                added, unchanged = added + (not same), unchanged + same
            if entry:
                entries[path] = entry
            else:
                entries.pop(path, None)
            noticed += ((path, notice) for notice in notices)
        self.library = self._rebuilt(list(entries.values()))
        return Report(added, unchanged, 0, tuple(skipped), tuple(noticed))

    def remove(self, sound_ids: Collection[str]) -> None:
        """Remove the sounds with these ids; the others keep their coordinates on the map."""
        stays = np.array([sound.id not in sound_ids for sound in self.sounds], dtype=bool)
        entries = [entry for entry, stay in zip(self.library.entries, stays, strict=True) if stay]
        self.library = self._rebuilt(entries, self.library.layout[stays])

    def search(self, query: np.ndarray, limit: int = 10) -> list[tuple[Sound, float, int]]:
        """Find sounds nearest to a unit vector (D,): (sound, score, number of its best segment)."""
        library = self.library
        numbers, scores, segments = (part[:limit] for part in library.find(query, limit))
        sounds = [library.sounds[number] for number in numbers]
        return list(zip(sounds, scores.tolist(), segments.tolist(), strict=True))

    def per_second_scores(self, sound_id: str, query: np.ndarray) -> np.ndarray:
        """Compare each second of a sound with a unit vector (D,): cosines, float32 (S,).

        Raises InputError if there is no such sound.
        """
        return self.library.entry(sound_id).per_second.astype(np.float32) @ query

    def _rebuilt(self, entries: Sequence[Entry], layout: np.ndarray | None = None) -> Library:
        old = self.library
        if [id(entry.vectors) for entry in entries] == [id(entry.vectors) for entry in old.entries]:
            return Library(entries, old.nearest, old.layout)  # only kinds or captions changed
        parts = [entry.vectors for entry in entries]
        vectors = np.concatenate([np.zeros((0, self.encoder.dimension), np.float32), *parts])
        views = np.split(vectors, np.cumsum([len(part) for part in parts]))
        entries = [
            replace(entry, vectors=view) for entry, view in zip(entries, views, strict=False)
        ]
        return Library(entries, Nearest(vectors, like=old.nearest), layout)
