"""Build or update the index of a folder of sounds."""

import fcntl
import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError
from earshot.core.files import walk_files
from earshot.sound_index.address import in_bucket, is_below, name_of
from earshot.sound_index.captions import CAPTIONS, captions_of
from earshot.sound_index.embedding import Captions, Progress, entries_of
from earshot.sound_index.encoder import SoundEncoder
from earshot.sound_index.files import Hashes
from earshot.sound_index.index import Report, SoundIndex
from earshot.sound_index.manifest import MANIFEST

HASHES: Final = "hashes.sqlite"  # of a bucket, in the folder of the index
# Embed files whose content the index does not know, and keep each, and their hashes, in the cache.
Workers = Callable[[SoundIndex, list[Path], Path, Hashes], object]
# How files are embedded: what is known of them, and where each embedding is kept.
Embedding = tuple[Captions, Progress | None, Path, Hashes]
MAX_FILES: Final = 200_000  # in a folder whose index is held in memory
BUSY: Final = "Another program is updating this index. Try again when it is done."
EMPTY: Final = (
    "This folder is empty now, as where a disk is away: its sounds stay in the index. "
    "If you have deleted them, delete the folder as well."
)


class BusyError(InputError):
    """An error that another scan is updating the index."""


def scan(
    folder: Path,
    out: Path,
    encoder: SoundEncoder,
    progress: Progress | None = None,
    backend: str | None = None,
    workers: Workers | None = None,
) -> Report:
    """Update the index ``out`` to the files in ``folder`` and its subfolders, or in a part of a
    bucket (see sources/bucket.py), of which only those are fetched that changed.

    Hidden files are ignored. captions.csv (columns file, kind, caption, and if you like licence and
    tags; several captions or tags separated by " | ") describes the others. What the index has of
    folders that cannot be opened, or that are empty now as where a disk is away, is kept, and these
    are reported as skipped. Each embedding is saved at once, so that a scan that was killed
    resumes. backend: in which the index will be searched; None for that which it was made for, and
    memory for a new one. workers: embed the files elsewhere, before this process puts the index
    together.

    Raises InputError if there is no such folder, if it is empty or holds more files than memory
    should, or if ``out`` is damaged or was made by another model; BusyError if another scan is
    updating it.
    """
    folder, out = folder.absolute(), out.absolute()
    versions = _files_in_bucket(folder) if in_bucket(folder) else None
    if versions is None and not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")
    with _locked(out):
        known = (out / MANIFEST).exists()
        index = SoundIndex.open(out, encoder) if known else SoundIndex.empty(encoder)
        on_disk = backend == "disk" or (backend is None and index.on_disk)
        away: dict[Path, str] = {}
        found = walk_files(folder, away.__setitem__) if versions is None else versions
        files = _files(found, folder, out, math.inf if on_disk else MAX_FILES)
        if not files and not known:
            why = f" {away[folder]}." if folder in away else ""
            raise InputError(
                f"There are no files in {name_of(folder)}.{why} Choose a folder with sounds in it."
            )
        gone = _gone(index, folder, set(files), away)
        captions, problems = captions_of(folder, files)
        skipped = [*away.items(), *((folder / CAPTIONS, problem) for problem in problems)]
        cache = out / f"partial-{encoder.fingerprint[:16]}"
        hashes = {} if versions is None else _kept_hashes(out, versions)
        if workers:
            workers(index, files, cache, hashes)
        update = _update_on_disk if on_disk else _update
        report = update(index, gone, out, files, (captions, progress, cache, hashes))
        shutil.rmtree(cache, ignore_errors=True)
        return replace(report, skipped=(*skipped, *report.skipped))


def _gone(index: SoundIndex, folder: Path, present: set[Path], away: dict[Path, str]) -> set[str]:
    """Find the sounds of the folder whose files are no more. Folders that are empty now are added
    to those that are ``away``, whose sounds are not gone."""
    ours = (sound for sound in index.sounds if is_below(sound.path, folder))
    missing = [sound for sound in ours if sound.path not in present]
    if not in_bucket(folder):
        for sound in missing:
            parent = next(path for path in sound.path.parents if path.is_dir())
            if parent.is_relative_to(folder) and parent not in away and not os.listdir(parent):
                away[parent] = EMPTY
    return {s.id for s in missing if not any(is_below(s.path, place) for place in away)}


def _update(
    index: SoundIndex, gone: set[str], out: Path, files: list[Path], embedding: Embedding
) -> Report:
    report = index.add(files, *embedding)
    index.remove(gone)
    index.save(out, "memory")
    return replace(report, removed=len(gone))


def _update_on_disk(
    index: SoundIndex, gone: set[str], out: Path, files: list[Path], embedding: Embedding
) -> Report:
    """Write all sounds anew, one after the other: first those of other folders."""
    from earshot.sound_index.disk import Writer  # late: an optional extra

    writer, present = Writer(out, index.encoder.dimension), set(files)
    added, unchanged, skipped, noticed = 0, 0, [], []
    for number, sound in enumerate(index.sounds):
        if sound.path not in present and sound.id not in gone:
            writer.put(index.library.entries[number])
    for path, entry, reason, notices in entries_of(index.library, index.encoder, files, *embedding):
        if reason:
            skipped.append((path, reason))
        elif entry:
            same = entry.sound.id in index
            added, unchanged = added + (not same), unchanged + same
        if entry:
            writer.put(entry)
        noticed += ((path, notice) for notice in notices)
    writer.commit(index.about)
    return Report(added, unchanged, len(gone), tuple(skipped), tuple(noticed))


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Let no other scan into the index. Raises BusyError if one is there."""
    out.mkdir(parents=True, exist_ok=True)
    folder = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise BusyError(BUSY) from error
    finally:
        os.close(folder)
        with suppress(OSError):  # it is not empty
            out.rmdir()


def _files(found: Iterable[Path], folder: Path, out: Path, max_files: float) -> list[Path]:
    """Sort the files to index. Raises InputError for more than ``max_files``, read no further."""
    files = []
    for path in found:
        if path.is_relative_to(out) or path.name == CAPTIONS:
            continue
        if len(files) == max_files:
            raise InputError(
                f"{name_of(folder)} holds more than {max_files:,} files, the most for one index "
                "in memory. Choose a folder in it, or search it from the disk: --index-backend disk"
            )
        files.append(path)
    return sorted(files)


def _files_in_bucket(folder: Path) -> dict[Path, str]:
    from earshot.sound_index.bucket import list_files  # late: an optional extra

    return list_files(folder)


def _kept_hashes(out: Path, versions: dict[Path, str]) -> Hashes:
    from earshot.sound_index.hashes import KeptHashes  # late: of a bucket

    return KeptHashes(out / HASHES, versions)
