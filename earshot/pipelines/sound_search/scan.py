"""Builds or updates the index of a folder of sounds."""

import csv
import math
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError
from earshot.pipelines.command_line import walk_files
from earshot.pipelines.sound_search.encoders.encoder import SoundEncoder
from earshot.pipelines.sound_search.index import Report, SoundIndex
from earshot.pipelines.sound_search.large import bucket
from earshot.pipelines.sound_search.large.hashes import Hashes, KeptHashes
from earshot.pipelines.sound_search.large.writer import Writer
from earshot.pipelines.sound_search.library import Description
from earshot.pipelines.sound_search.reading import Captions, Progress, read
from earshot.pipelines.sound_search.store import MANIFEST

CAPTIONS: Final = "captions.csv"
HASHES: Final = "hashes.sqlite"  # of a bucket, beside the index
# Embed files whose content the index does not know, and keep each, and their hashes, in the cache.
Workers = Callable[[SoundIndex, list[Path], Path, Hashes], object]
# How files are read: what is known of them, and where each embedding is kept.
Reading = tuple[Captions, Progress | None, Path, Hashes]
MAX_FILES: Final = 200_000  # in a folder whose index is held in memory


def scan(
    folder: Path,
    out: Path,
    encoder: SoundEncoder,
    progress: Progress | None = None,
    backend: str | None = None,
    workers: Workers | None = None,
) -> Report:
    """Update the index ``out`` to the files in ``folder`` and its subfolders, or in a part of a
    bucket (see large/bucket.py), of which only those are fetched that changed.

    Hidden files are ignored. captions.csv (columns file, kind, caption, and if you like licence and
    tags; several captions or tags separated by " | ") describes the others. Each embedding is saved
    at once, so that a scan that was killed resumes. backend: in which the index will be searched;
    None for that which it was made for, and memory for a new one. workers: embed the files
    elsewhere, before this process puts the index together. Raises InputError if there is no
    such folder, if it is empty or holds more files than memory should, or if ``out`` is damaged or
    was made by another model.
    """
    folder, out = folder.absolute(), out.absolute()
    versions = bucket.listed(folder) if bucket.holds(folder) else None
    if versions is None and not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")
    known = (out / MANIFEST).exists()
    index = SoundIndex.open(out, encoder) if known else SoundIndex.empty(encoder)
    on_disk = backend == "disk" or (backend is None and index.on_disk)
    found = walk_files(folder) if versions is None else versions
    files = _files(found, folder, out, math.inf if on_disk else MAX_FILES)
    if not files and not known:
        name = bucket.name_of(folder)
        raise InputError(f"There are no files in {name}. Choose a folder with sounds in it.")
    captions = _captions(folder)
    cache = out / f"partial-{encoder.fingerprint[:16]}"
    hashes = {} if versions is None else KeptHashes(out / HASHES, versions)
    if workers:
        workers(index, files, cache, hashes)
    update = _update_on_disk if on_disk else _update
    report = update(index, folder, out, files, (captions, progress, cache, hashes))
    shutil.rmtree(cache, ignore_errors=True)
    return report


def _update(
    index: SoundIndex, folder: Path, out: Path, files: list[Path], reading: Reading
) -> Report:
    report = index.add(files, *reading)
    present = set(files)
    ours = (sound for sound in index.sounds if bucket.is_below(sound.path, folder))
    gone = {sound.id for sound in ours if sound.path not in present}
    index.remove(gone)
    index.save(out, "memory")
    return replace(report, removed=len(gone))


def _update_on_disk(
    index: SoundIndex, folder: Path, out: Path, files: list[Path], reading: Reading
) -> Report:
    """Writes all sounds anew, one after the other: first those of other folders."""
    writer, present = Writer(out, index.encoder.dimension), set(files)
    added, unchanged, removed, skipped = 0, 0, 0, []
    for number, sound in enumerate(index.sounds):
        if not bucket.is_below(sound.path, folder):
            writer.put(index.library.entries[number])
        else:
            removed += sound.path not in present
    for path, entry, reason in read(index.library, index.encoder, files, *reading):
        if entry is None:
            skipped.append((path.name, reason))
            continue
        same = entry.sound.id in index
        added, unchanged = added + (not same), unchanged + same
        writer.put(entry)
    writer.commit(index.about)
    return Report(added, unchanged, removed, tuple(skipped))


def _files(found: Iterable[Path], folder: Path, out: Path, most: float) -> list[Path]:
    """The files to index, sorted. Raises InputError for more than ``most``, read no further."""
    files = []
    for path in found:
        if path.is_relative_to(out) or path.name == CAPTIONS:
            continue
        if len(files) == most:
            raise InputError(
                f"{bucket.name_of(folder)} holds more than {most:,} files, the most for one index "
                "in memory. Choose a folder in it, or search it from the disk: --index-backend disk"
            )
        files.append(path)
    return sorted(files)


def _captions(folder: Path) -> dict[str, Description]:
    """What captions.csv says of the files in a folder, or in a part of a bucket."""
    try:
        with bucket.fetched(folder / CAPTIONS) as table:
            return read_captions(table)
    except FileNotFoundError:
        return {}


def read_captions(table: Path) -> dict[str, Description]:
    """File name → its description, with its first caption, by a captions.csv, if there is one.

    Raises InputError for a table without the columns, and for one that is no text in UTF-8.
    """
    try:
        with table.open(newline="", encoding="utf-8-sig") as file:
            return {row["file"]: _description(row) for row in csv.DictReader(file)}
    except FileNotFoundError:
        return {}
    except KeyError as error:
        raise InputError(
            f"{CAPTIONS} has no column {error}: it needs file, kind, caption."
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{CAPTIONS} cannot be read: save it as CSV in UTF-8.") from error


def _description(row: dict[str, str | None]) -> Description:
    tags = (tag.strip() for tag in (row.get("tags") or "").split("|"))
    return Description(
        kind=row["kind"] or "",
        caption=(row["caption"] or "").split(" | ")[0],
        licence=(row.get("licence") or "").strip(),
        tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
    )
