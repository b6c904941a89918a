"""Descriptions of the sounds of a folder in captions.csv."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError
from earshot.media.text.table import sheet
from earshot.sound_index.files import fetched
from earshot.sound_index.sound import Description

CAPTIONS: Final = "captions.csv"
NEEDED: Final = ("file", "kind", "caption")


def captions_of(folder: Path, files: Iterable[Path]) -> tuple[dict[Path, Description], list[str]]:
    """Read what captions.csv says of the files in a folder, or in a part of a bucket."""
    try:
        with fetched(folder / CAPTIONS) as table:
            return described(read_captions(table), files, folder)
    except FileNotFoundError:
        return {}, []


def read_captions(table: Path) -> dict[str, Description]:
    """Read a captions.csv, if there is one: file name → its description, with its first caption.

    Raises InputError for a table without the columns, and for one that is no text.
    """
    if not table.exists():
        return {}
    try:
        columns = {name.lower(): name for name in sheet(table).columns}
        if missing := [name for name in NEEDED if name not in columns]:
            raise InputError(f"it has no column '{missing[0]}', and needs {', '.join(NEEDED)}.")
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
    """Give each description to the one file that its name means; and say which names mean none, or
    several.

    A name is the path below the folder, or the name of a file anywhere in it; without a folder, the
    last part of either. How a name composes its accents makes no difference; its case only where
    two files differ in nothing else.
    """
    by_path, by_name = _Names(), _Names()
    for path in files:
        by_name.add(path.name, path)
        by_path.add(path.relative_to(folder).as_posix() if folder else path.name, path)
    found: dict[Path, Description] = {}
    problems: list[str] = []
    for name, description in captions.items():
        written = name.replace("\\", "/").removeprefix("./")
        written = written if folder else written.rpartition("/")[2]
        paths = by_path.find(written)
        named_by_path = len(paths) == 1
        if not paths and "/" not in written:
            paths = by_name.find(written)
        if named_by_path:
            found[paths[0]] = description
        elif len(paths) == 1:  # a path says more than a name
            found.setdefault(paths[0], description)
        else:
            several = f"{len(paths)} files have this name: give the path of one of them."
            problems.append(f"“{name}”: {several if paths else 'there is no such file.'}")
    return found, problems


class _Names:
    """An index of files by their names."""

    def __init__(self) -> None:
        self._files: dict[str, list[Path]] = defaultdict(list)

    def add(self, name: str, path: Path) -> None:
        """Add a file under a name."""
        composed = unicodedata.normalize("NFC", name)
        for spelling in {composed, f"\0{composed.casefold()}"}:
            self._files[spelling].append(path)

    def find(self, name: str) -> list[Path]:
        """Find the files of this name, or those whose names differ from it in case only."""
        composed = unicodedata.normalize("NFC", name)
        return self._files.get(composed) or self._files.get(f"\0{composed.casefold()}", [])


def _description(row: Mapping[str, str]) -> Description:
    tags = (tag.strip() for tag in row.get("tags", "").split("|"))
    return Description(
        kind=row["kind"],
        caption=row["caption"].split(" | ")[0],
        licence=row.get("licence", ""),
        tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
    )
