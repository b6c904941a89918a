"""The manifest of an index on disk, which is replaced last, in one step.

index.json names the files of the arrays by a hash of their content, so that a reader sees the old
index or the new one and never a mixture of both. Of the backend "memory" it describes every sound;
of "disk", SQLite does (see disk.py).
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from earshot.core.errors import InputError
from earshot.core.files import replacing

MANIFEST: Final = "index.json"
FORMAT: Final = 1
# Names of the files: vectors of segments, those of seconds, coordinates, the first row in either of
# each sound, what is known of them, and FAISS' lists of segments, which few need not have.
FILES: Final = ("vectors", "seconds", "layout", "starts", "rows", "nearest")
MISSING: Final = (
    "There is no index of sounds here. Make one with: python -m earshot sounds index FOLDER"
)
DAMAGED: Final = (
    "This index of sounds is damaged. Delete it and make it again with: "
    "python -m earshot sounds index FOLDER"
)


@dataclass(frozen=True)
class About:
    """The model that embedded the sounds: its name, and the fingerprint that identifies it."""

    encoder: str
    fingerprint: str


def commit(
    folder: Path, about: About, files: dict[str, str], sounds: Sequence[dict[str, Any]] = ()
) -> None:
    """Make these files the index, in one step, and delete those of the index before."""
    manifest = {"format": FORMAT, **asdict(about), "files": files, "sounds": sounds}
    with replacing(folder / MANIFEST) as file:
        file.write((json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode())
    for name in FILES:
        for old in folder.glob(f"{name}-*"):
            if old.name not in files.values():
                old.unlink()


def written(folder: Path) -> int:
    """Tell when the index was last written, in ns. Raises InputError if there is no index."""
    try:
        return (folder / MANIFEST).stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(MISSING) from None


def relative(path: Path, root: Path) -> str:
    """Write a path as it is stored: relative to root if it is below it, so that both can be moved
    together."""
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()
