"""The folder of an index: written atomically, and read in the backend that it was made for.

Names in the files of the backend "memory", by FORMAT 1: "seconds" holds Entry.per_second of all
sounds, concatenated; "rows" and "cells" are the numbers of segments and of seconds of a sound.
"""

import hashlib
import json
import mmap
import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from earshot.core.errors import InputError
from earshot.core.files import replacing
from earshot.sound_index.arrays import check_content, check_lists, hash_of
from earshot.sound_index.library import Library
from earshot.sound_index.manifest import (
    DAMAGED,
    MANIFEST,
    MISSING,
    About,
    commit,
    relative,
)
from earshot.sound_index.nearest import Nearest
from earshot.sound_index.sound import Entry, Sound

NOT_ON_DISK: Final = (
    "This index is made for memory. Make it again for the disk, which embeds nothing anew, with: "
    "python -m earshot sounds index FOLDER --index-backend disk"
)
READ_ATTEMPTS: Final = 5  # the index may be replaced between opening one file and the next


def write(folder: Path, library: Library, about: About) -> None:
    """Write the library and the name of its model to the folder.

    Sounds below the folder's parent are stored relative to it, so that both can be moved together.
    """
    folder.mkdir(parents=True, exist_ok=True)
    root = Path(os.path.abspath(folder)).parent
    vectors = library.nearest.vectors[:]
    files = {
        "vectors": _write_array(folder, "vectors", [vectors], vectors.shape[1]),
        "seconds": _write_array(
            folder, "seconds", [entry.per_second for entry in library.entries], vectors.shape[1]
        ),
        "layout": _write_array(folder, "layout", [library.layout], 2),
    }
    if not library.nearest.exact:
        lists = folder / "nearest.new"
        library.nearest.write(lists)
        with lists.open("rb") as file:
            files["nearest"] = f"nearest-{hash_of(file)}.faiss"
        os.replace(lists, folder / files["nearest"])
    sounds = [
        {
            **asdict(entry.sound),
            "path": relative(entry.sound.path, root),
            "rows": len(entry.vectors),
            "cells": len(entry.per_second),
        }
        for entry in library.entries
    ]
    commit(folder, about, files, sounds)


def read(folder: Path, backend: str | None = None) -> tuple[About, Library]:
    """Read the index of a folder. backend: one of BACKENDS, if not that which it was made for.

    Raises InputError if there is no index, it is damaged, or it is not made for the disk and should
    be searched there.
    """
    for _ in range(READ_ATTEMPTS):
        try:
            manifest = json.loads((folder / MANIFEST).read_bytes(), object_hook=_row)
        except (FileNotFoundError, NotADirectoryError):
            raise InputError(MISSING) from None
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(DAMAGED) from error
        try:
            library = _read(folder, manifest)
            about = About(manifest["encoder"], manifest["fingerprint"])
        except FileNotFoundError:
            continue  # replaced meanwhile, and the old arrays deleted
        except (ValueError, TypeError, KeyError, AttributeError, EOFError) as error:
            raise InputError(DAMAGED) from error
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


def _write_array(folder: Path, name: str, parts: Sequence[np.ndarray], width: int) -> str:
    """Write the concatenated parts (n, width) to a file named by a hash of the content."""
    kind = parts[0].dtype if parts else np.dtype(np.float32)
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(np.ascontiguousarray(part).data)
    path = folder / f"{name}-{digest.hexdigest()}.npy"
    if path.exists():
        return path.name
    with replacing(path) as file:
        np.lib.format.write_array_header_1_0(
            file,
            {
                "descr": np.lib.format.dtype_to_descr(kind),
                "fortran_order": False,
                "shape": (sum(len(part) for part in parts), width),
            },
        )
        for part in parts:
            file.write(np.ascontiguousarray(part).data)
    return path.name
