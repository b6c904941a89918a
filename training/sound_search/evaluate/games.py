"""The held-out recordings: sounds of Tux Paint and GCompris, laid out as the data folder.

Of the Debian packages tuxpaint-stamps-default and gcompris-qt-data, after
`apt-get install` of both:

    python -m training.sound_search.evaluate.games OUT
    python -m training.sound_search evaluate --data OUT --fold 5
"""

import argparse
import csv
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from training.sound_search.evaluate.test_set import CORPUS

LIST: Final = Path(__file__).with_name("games.csv")
INSTALLED: Final = Path("/usr/share")
FOLD: Final = 5
FOLDER, COMPRESSED = 2, 1  # flags of an entry


def lay_out(out: Path, installed: Path = INSTALLED) -> int:
    """Copy the sounds of games.csv to a folder with a manifest, and count them.

    Raises SystemExit if one of the packages is not installed.
    """
    folder = out / "sounds" / CORPUS
    folder.mkdir(parents=True, exist_ok=True)
    manifest = []
    for row in csv.DictReader(LIST.read_text(encoding="utf-8").splitlines()):
        source = installed / row["file"]
        if not source.exists():
            raise SystemExit(f"{source} is missing: install the package that it belongs to.")
        content = member(source, row["member"]) if row["member"] else source.read_bytes()
        name = "-".join([source.stem, Path(row["member"]).name or source.name])
        (folder / name).write_bytes(content)
        manifest.append([CORPUS, f"{CORPUS}/{name}", row["label"], FOLD, "", ""])
    with (out / "sounds" / "manifest.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["set", "path", "label", "fold", "source_title", "notes"])
        writer.writerows(manifest)
    return len(manifest)


def member(archive: Path, name: str) -> bytes:
    """Read the file of a Qt resource archive (.rcc) whose path ends in a name."""
    return next(content for path, content in _files(archive.read_bytes()) if path.endswith(name))


def _files(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every file of a Qt resource archive, as its header describes
    them.
    """
    version, tree, contents, names = struct.unpack(">4I", data[4:20])
    entry_size = 22 if version > 1 else 14

    def walk(number: int, path: str) -> Iterator[tuple[str, bytes]]:
        entry = data[tree + number * entry_size :]
        name, flags = struct.unpack(">IH", entry[:6])
        if number:  # the first entry is the root, which has no name
            (length,) = struct.unpack_from(">H", data, names + name)
            path += "/" + data[names + name + 6 :][: 2 * length].decode("utf-16-be")
        if flags & FOLDER:
            count, first = struct.unpack(">2I", entry[6:14])
            for child in range(first, first + count):
                yield from walk(child, path)
            return
        start = contents + struct.unpack(">I", entry[10:14])[0]
        (size,) = struct.unpack_from(">I", data, start)
        content = data[start + 4 : start + 4 + size]
        yield path, zlib.decompress(content[4:]) if flags & COMPRESSED else content

    yield from walk(0, "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the folder to write")
    print(f"{lay_out(parser.parse_args().out)} sounds")
