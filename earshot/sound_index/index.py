"""A searchable library of sounds: add files, remove them, save the index, open it again.

Names in the files of the backend "memory", by FORMAT 1: "seconds" holds Entry.per_second of all
sounds, concatenated; "rows" and "cells" are the numbers of segments and of seconds of a sound.
"""

import json
import mmap
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from earshot.core.errors import InputError
from earshot.sound_index.embedding import Captions, Progress, SoundEncoder, entries_of
from earshot.sound_index.files import Hashes
from earshot.sound_index.library import Library
from earshot.sound_index.nearest import Nearest
from earshot.sound_index.sound import Entry, Sound
from earshot.sound_index.stored import (
    DAMAGED,
    MANIFEST,
    MISSING,
    About,
    ArrayWriter,
    check_content,
    check_lists,
    commit,
    damage_reported,
    hash_of,
    new_file,
    relative,
)

NOT_ON_DISK: Final = (
    "This index is made for memory. Make it again for the disk, which embeds nothing anew, with: "
    "python -m earshot sounds index FOLDER --index-backend disk"
)
MAX_ATTEMPTS: Final = 5  # the index may be replaced between opening one file and the next


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
        vectors = np.zeros((0, encoder.dimension), np.float32)
        return cls(encoder, Library([], Nearest(vectors)))

    @classmethod
    def open(
        cls, folder: str | Path, encoder: SoundEncoder, backend: str | None = None
    ) -> "SoundIndex":
        """Open a saved index. backend: one of BACKENDS, if not that which it was made for.

        Raises InputError if there is none, it is damaged, another model made it, or it is not made
        for the disk and should be searched there.
        """
        about, library = read_index(Path(folder), backend)
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
            from earshot.sound_index.disk import write_to_disk  # late: an optional extra

            write_to_disk(Path(folder), self.library, self.about, self.encoder.dimension)
        else:
            write_index(Path(folder), self.library.in_memory(), self.about)

    @property
    def about(self) -> About:
        """Name the model that embedded the sounds."""
        return About(self.encoder.name, self.encoder.fingerprint)

    @property
    def on_disk(self) -> bool:
        """Whether a search reads what it finds from the disk."""
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
        """Return coordinates of the sounds on the map, in [0, 1]: float32 (n, 2)."""
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
        ``progress`` raises, a bucket cannot be read (UnreachableError), or a plug-in fails
        (PlugInError), the index stays unchanged.
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


def write_index(folder: Path, library: Library, about: About) -> None:
    """Write the library and the name of its model to the folder.

    Sounds below the folder's parent are stored relative to it, so that both can be moved together.
    """
    folder.mkdir(parents=True, exist_ok=True)
    root = Path(os.path.abspath(folder)).parent
    vectors, entries = library.nearest.vectors[:], library.entries
    arrays = {
        "vectors": [vectors],
        "seconds": [entry.per_second for entry in entries] or [vectors[:0]],
        "layout": [library.layout],
    }
    hashes = {name: _write_array(new_file(folder, name), parts) for name, parts in arrays.items()}
    if not library.nearest.exact:
        library.nearest.write(new_file(folder, "nearest"))
        with new_file(folder, "nearest").open("rb") as file:
            hashes["nearest"] = hash_of(file)
    sounds = [
        {
            **asdict(entry.sound),
            "path": relative(entry.sound.path, root),
            "rows": len(entry.vectors),
            "cells": len(entry.per_second),
        }
        for entry in entries
    ]
    commit(folder, about, hashes, sounds)


def read_index(folder: Path, backend: str | None = None) -> tuple[About, Library]:
    """Read the index of a folder. backend: one of BACKENDS, if not that which it was made for.

    Raises InputError if there is no index, it is damaged, or it is not made for the disk and should
    be searched there.
    """
    for _ in range(MAX_ATTEMPTS):
        try:
            text = (folder / MANIFEST).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise InputError(MISSING) from None
        try:
            with damage_reported(DAMAGED):
                manifest = json.loads(text, object_hook=_row)
                about = About(manifest["encoder"], manifest["fingerprint"])
                library = _read(folder, manifest)
        except FileNotFoundError:
            continue  # replaced meanwhile, and the old arrays deleted
        if backend == "disk" and not library.on_disk:
            raise InputError(NOT_ON_DISK)
        return about, library.in_memory() if backend == "memory" else library
    raise InputError(DAMAGED)


def _read(folder: Path, manifest: dict[str, Any]) -> Library:
    root = Path(os.path.abspath(folder)).parent
    files, rows = manifest["files"], manifest["sounds"]
    if "rows" in files:
        from earshot.sound_index.disk import StoredLibrary  # late: optional

        return StoredLibrary(folder, files)
    for name in ("vectors", "seconds", "layout"):
        check_content(folder / files[name])
    vectors, per_second, layout = (
        np.load(folder / files[name], mmap_mode="r") for name in ("vectors", "seconds", "layout")
    )
    # The seconds of a few sounds are read, here and there: not their neighbours.
    if isinstance(per_second.base, mmap.mmap) and hasattr(mmap, "MADV_RANDOM"):
        per_second.base.madvise(mmap.MADV_RANDOM)
    vectors, per_second, layout = map(np.asarray, (vectors, per_second, layout))
    counts = [sum(row.rows for row in rows), sum(row.cells for row in rows)]
    if counts != [len(vectors), len(per_second)] or len(layout) != len(rows):
        raise ValueError("the arrays belong to other sounds")
    entries, first, cell = [], 0, 0
    for row in rows:
        sound = replace(row.sound, path=root / row.sound.path)
        parts = vectors[first : first + row.rows], per_second[cell : cell + row.cells]
        entries.append(Entry(sound, *parts))
        first, cell = first + row.rows, cell + row.cells
    if "nearest" not in files:
        return Library(entries, Nearest(vectors), layout)
    check_lists(folder / files["nearest"], files["vectors"])
    nearest = Nearest.read(folder / files["nearest"], vectors)
    return Library(entries, nearest, layout)


class _Row(NamedTuple):
    """A sound as the manifest describes it."""

    sound: Sound
    rows: int
    cells: int


def _row(fields: dict[str, Any]) -> "_Row | dict[str, Any]":
    """Make a sound of the manifest, as soon as it is parsed: a dictionary each would take a
    kilobyte.
    """
    if "cells" not in fields:
        return fields
    rows, cells = fields.pop("rows"), fields.pop("cells")
    fields["path"], fields["tags"] = Path(fields["path"]), tuple(fields.get("tags", ()))
    return _Row(Sound(**fields), rows, cells)


def _write_array(path: Path, parts: Sequence[np.ndarray]) -> str:
    """Write the concatenated parts (n, D), of which there is one at least → a hash of them."""
    writer = ArrayWriter(path, parts[0].shape[1], parts[0].dtype)
    for part in parts:
        writer.append(part)
    return writer.close()
