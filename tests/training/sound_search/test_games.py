"""The held-out recordings are laid out as the data folder, from a Qt resource archive too."""

import csv
import json
import struct
import zlib
from pathlib import Path

import pytest

from training.sound_search import test_set
from training.sound_search.test_set import QUERIES, Budget, choose, lay_out, member

PLAIN, PACKED = b"OggS of a cow", b"RIFF" + bytes(500)


def archive() -> bytes:
    """A resource archive of version 2: animals/cow.ogg, and train.wav, which is compressed."""
    names, offsets = b"", []
    for name in ("animals", "train.wav", "cow.ogg"):
        offsets.append(len(names))
        names += struct.pack(">HI", len(name), 0) + name.encode("utf-16-be")
    packed = struct.pack(">I", len(PACKED)) + zlib.compress(PACKED)
    contents = b"".join(struct.pack(">I", len(data)) + data for data in (PLAIN, packed))
    after = 4 + len(PLAIN)
    tree = b"".join(
        struct.pack(">IH2I8x", *entry)
        for entry in (
            (0, test_set.FOLDER, 2, 1),  # the root, with the entries 1 and 2
            (offsets[0], test_set.FOLDER, 1, 3),
            (offsets[1], test_set.COMPRESSED, 0, after),
            (offsets[2], 0, 0, 0),
        )
    )
    first = 24
    header = struct.pack(">4s5I", b"qres", 2, first + len(contents), first, 0, 0)
    names_at = first + len(contents) + len(tree)
    header = header[:16] + struct.pack(">I", names_at) + header[20:]
    return header + contents + tree + names


def test_archive_member_is_read(tmp_path: Path) -> None:
    """A member may be plain or compressed."""
    path = tmp_path / "sounds.rcc"
    path.write_bytes(archive())
    assert member(path, "animals/cow.ogg") == PLAIN
    assert member(path, "train.wav") == PACKED


def test_lay_out_writes_readable_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The evaluation reads the manifest."""
    (tmp_path / "sounds.rcc").write_bytes(archive())
    (tmp_path / "dog.ogg").write_bytes(b"OggS of a dog")
    monkeypatch.setattr(test_set, "GAMES", tmp_path / "games.csv")
    test_set.GAMES.write_text("file,member,label\nsounds.rcc,animals/cow.ogg,cow\ndog.ogg,,dog\n")
    assert lay_out(tmp_path / "out", tmp_path) == 2
    clips, queries, _ = choose(
        tmp_path / "out", QUERIES, test_set.GAMES_FOLD, "test", Budget(mixtures=0)
    )
    assert {(clip.label, clip.path.read_bytes()) for clip in clips} == {
        ("cow", PLAIN),
        ("dog", b"OggS of a dog"),
    }
    assert {query.label for query in queries} == {"cow", "dog"}


def test_lay_out_names_missing_packages(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"frog\.ogg is missing: install the package"):
        lay_out(tmp_path / "out", tmp_path)


def test_every_held_out_recording_is_queried() -> None:
    """Every recording is of a class that queries ask for."""
    labels = {row["label"] for row in csv.DictReader(test_set.GAMES.read_text().splitlines())}
    queries = map(json.loads, QUERIES.read_text().splitlines())
    assert labels <= {query["relevant_class"] for query in queries}
