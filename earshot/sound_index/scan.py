"""Build the index of a folder of sounds, which captions.csv describes, and keep it up to date."""

import fcntl
import math
import os
import shutil
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import watchfiles

from earshot.core.errors import InputError
from earshot.core.files import walk_files
from earshot.media.text.letters import composed
from earshot.media.text.table import sheet
from earshot.sound_index.address import in_bucket, is_below, name_of
from earshot.sound_index.embedding import Captions, Progress, SoundEncoder, entries_of
from earshot.sound_index.files import Hashes, fetched
from earshot.sound_index.index import Report, SoundIndex
from earshot.sound_index.sound import Description
from earshot.sound_index.stored import MANIFEST

CAPTIONS: Final = "captions.csv"
REQUIRED_COLUMNS: Final = ("file", "kind", "caption")
HASHES: Final = "hashes.sqlite"  # of a bucket, in the folder of the index
# Embed files whose content the index does not hold, and write each, and their hashes, to the cache.
Workers = Callable[[SoundIndex, list[Path], Path, Hashes], object]
# How files are embedded: their descriptions, and where each embedding is written.
Embedding = tuple[Captions, Progress | None, Path, Hashes]
MAX_FILES: Final = 200_000  # in a folder whose index is held in memory
BUSY: Final = "Another program is updating this index. Try again when it is done."
EMPTY: Final = (
    "This folder is empty now, as where a disk is away: its sounds stay in the index. "
    "If you have deleted them, delete the folder as well."
)
QUIET_INTERVAL: Final = 300  # ms without a change, after which the changes before count as one
STOP_INTERVAL: Final = 500  # ms between two looks at `stop`
UNWATCHED: Final = (
    "A bucket does not tell of its changes. Run this now and then: "
    "python -m earshot sounds index s3://BUCKET/PREFIX"
)


def captions_of(folder: Path, files: Iterable[Path]) -> tuple[dict[Path, Description], list[str]]:
    """Read what captions.csv says of the files in a folder, or in a part of a bucket."""
    try:
        with fetched(folder / CAPTIONS) as table:
            return described(read_captions(table), files, folder)
    except FileNotFoundError:
        return {}, []


def read_captions(table: Path) -> dict[str, Description]:
    """Read a captions.csv, if there is one: file name → its description.

    Raises InputError for a table without the columns, and for one that is no text.
    """
    if not table.exists():
        return {}
    try:
        columns = {name.lower(): name for name in sheet(table).columns}
        if missing := [name for name in REQUIRED_COLUMNS if name not in columns]:
            raise InputError(
                f"it has no column '{missing[0]}', and needs {', '.join(REQUIRED_COLUMNS)}."
            )
        rows = [
            {name: row.cells[column] for name, column in columns.items()}
            for row in sheet(table).rows(short=True)
        ]
    except InputError as error:
        raise InputError(f"{CAPTIONS} cannot be read: {error}") from error
    described: dict[str, Description] = {}
    for row in rows:
        if row["file"]:
            described.setdefault(row["file"], _description(row))
    return described


def described(
    captions: Mapping[str, Description], files: Iterable[Path], folder: Path | None = None
) -> tuple[dict[Path, Description], list[str]]:
    """Assign each description to the one file that its name means; and list the names that mean
    none, or several.

    A name is the path below the folder, or the name of a file anywhere in it; without a folder, the
    last part of either. How a name composes its accents makes no difference; its case only where
    two files differ in nothing else.
    """
    by_path, by_name = _Names(), _Names()
    for path in files:
        by_name.add(path.name, path)
        by_path.add(path.relative_to(folder).as_posix() if folder else path.name, path)
    descriptions: dict[Path, Description] = {}
    problems: list[str] = []
    for name, description in captions.items():
        written = name.replace("\\", "/").removeprefix("./")
        written = written if folder else written.rpartition("/")[2]
        paths = by_path.find(written)
        named_by_path = len(paths) == 1
        if not paths and "/" not in written:
            paths = by_name.find(written)
        if named_by_path:
            descriptions[paths[0]] = description
        elif len(paths) == 1:  # a path says more than a name
            descriptions.setdefault(paths[0], description)
        else:
            several = f"{len(paths)} files have this name: give the path of one of them."
            problems.append(f"“{name}”: {several if paths else 'there is no such file.'}")
    return descriptions, problems


class _Names:
    """An index of files by their names."""

    def __init__(self) -> None:
        self._files: dict[str, list[Path]] = defaultdict(list)

    def add(self, name: str, path: Path) -> None:
        """Add a file under a name."""
        plain = composed(name)
        for spelling in {plain, f"\0{plain.casefold()}"}:
            self._files[spelling].append(path)

    def find(self, name: str) -> list[Path]:
        """Find the files of this name, or those whose names differ from it in case only."""
        plain = composed(name)
        return self._files.get(plain) or self._files.get(f"\0{plain.casefold()}", [])


def _description(row: Mapping[str, str]) -> Description:
    tags = (tag.strip() for tag in row.get("tags", "").split("|"))
    return Description(
        kind=row["kind"],
        caption=row["caption"],
        licence=row.get("licence", ""),
        tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
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
    bucket (see bucket.py), of which only those are fetched that changed.

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
    versions: dict[Path, str] | None = None
    if in_bucket(folder):
        from earshot.sound_index.bucket import list_files  # late: an optional extra

        versions = list_files(folder)
    elif not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")
    with locked(out):
        exists = (out / MANIFEST).exists()
        index = SoundIndex.open(out, encoder) if exists else SoundIndex.empty(encoder)
        on_disk = backend == "disk" or (backend is None and index.on_disk)
        away: dict[Path, str] = {}
        paths = walk_files(folder, away.__setitem__) if versions is None else versions
        files = files_to_index(paths, folder, out, math.inf if on_disk else MAX_FILES)
        if not files and not exists:
            why = f" {away[folder]}." if folder in away else ""
            raise InputError(
                f"There are no files in {name_of(folder)}.{why} Choose a folder with sounds in it."
            )
        gone = _gone(index, folder, set(files), away)
        captions, problems = captions_of(folder, files)
        skipped = [*away.items(), *((folder / CAPTIONS, problem) for problem in problems)]
        cache = out / f"partial-{encoder.fingerprint[:16]}"
        hashes: Hashes = {}
        if versions is not None:
            from earshot.sound_index.bucket import StoredHashes  # late: an optional extra

            hashes = StoredHashes(out / HASHES, versions)
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
def locked(out: Path) -> Iterator[None]:
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


def files_to_index(
    paths: Iterable[Path], folder: Path, out: Path, max_files: float = math.inf
) -> list[Path]:
    """Sort the files to index. Raises InputError for more than ``max_files``, read no further."""
    files = []
    for path in paths:
        if path.is_relative_to(out) or path.name == CAPTIONS:
            continue
        if len(files) == max_files:
            raise InputError(
                f"{name_of(folder)} holds more than {max_files:,} files, the most for one index "
                "in memory. Choose a folder in it, or search it from the disk: --index-backend disk"
            )
        files.append(path)
    return sorted(files)


def watch(
    folder: Path,
    out: Path,
    update: Callable[[], Report],
    on_report: Callable[[Report | str], object],
    stop: threading.Event | None = None,
) -> None:
    """Update the index ``out`` of a folder, and again whenever something in it changes.

    on_report: is given each report, or why there is none: a folder that is empty at first may be
    filled later. Ends when ``stop`` is set. Raises InputError if there is no such folder, and for a
    bucket.
    """
    if in_bucket(folder):
        raise InputError(UNWATCHED)
    folder, out = folder.absolute(), out.absolute()
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")

    def concerns(_: watchfiles.Change, name: str) -> bool:
        path = Path(name)
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        return not (hidden or path.is_relative_to(out))

    waiting = False  # whether something changed that is not in the index
    # It yields without changes too: the first time when it watches, so that no change is missed.
    for number, changes in enumerate(
        watchfiles.watch(
            folder,
            watch_filter=concerns,
            step=QUIET_INTERVAL,
            rust_timeout=STOP_INTERVAL,
            yield_on_timeout=True,
            stop_event=stop,
        )
    ):
        waiting = waiting or not number or bool(changes)
        if not waiting:
            continue
        try:
            on_report(update())
        except BusyError:
            continue  # until the other scan is done
        except InputError as error:
            on_report(str(error))
        waiting = False
