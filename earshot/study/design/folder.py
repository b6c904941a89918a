"""A test from sounds that somebody brings: unpacked, described, and put among those that open."""

import errno
import json
import secrets
import shutil
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from earshot.core.errors import InputError
from earshot.study.design.model import PAIRED, REFERENCE, REFERENCED, Design
from earshot.study.design.spec import FILE
from earshot.study.design.trials import PREPARED

SOUNDS: Final = (".wav", ".flac", ".ogg", ".opus", ".mp3", ".m4a")
OTHERS: Final = (".yaml", ".yml", ".txt", ".json", ".jsonl", ".csv")
NO_SYSTEMS: Final = (REFERENCE, "check", "checks", "practice", "prepared", "results")
MAX_FILES: Final = 2000  # of a test, from all that was uploaded for it
MAX_BYTES: Final = 300_000_000  # of them, unpacked
TOO_MUCH: Final = (
    f"This is too much: {MAX_FILES} files and {MAX_BYTES // 1_000_000} MB are the most in a test."
)
MADE: Final = (PREPARED, "results")  # folders that we write, and believe
FULL: Final = (errno.ENOSPC, errno.EDQUOT)
NOTHING: Final = (
    "There are no sounds in this. Bring a zip with a folder for each system, in which the same "
    "sentence has the same file name, or sounds that are named system_sentence.wav."
)


def unpack(files: Sequence[Path], folder: Path) -> None:
    """Puts the sounds of zips, and loose ones named system_sentence.wav, into the folder, each in
    that of its system. Raises InputError for what is none of this, or too much in all."""
    folder.mkdir(parents=True, exist_ok=True)
    room = Room(MAX_FILES, MAX_BYTES)
    for file in files:
        if file.suffix.lower() == ".zip":
            _unzip(file, folder, room)
        elif file.suffix.lower() in SOUNDS and "_" in file.stem:
            system, sentence = file.stem.split("_", 1)
            _copy(file, folder, PurePosixPath(system, sentence + file.suffix), room)
        elif file.name == FILE:
            _copy(file, folder, PurePosixPath(FILE), room)
    _lift(folder)
    if not systems(folder) and not (folder / FILE).exists():
        raise InputError(NOTHING)


@dataclass
class Room:
    """What a test may still hold."""

    files: int
    size: int  # in bytes

    def take(self, size: int) -> None:
        """Gives room to a file. Raises InputError where there is none."""
        self.files -= 1
        self.size -= size
        if self.files < 0 or self.size < 0:
            raise InputError(TOO_MUCH)


def systems(folder: Path) -> dict[str, str]:
    """The pattern of the sounds of every system that has a folder here, by name."""
    found = {}
    for part in sorted(path for path in folder.iterdir() if path.is_dir()):
        kinds = Counter(path.suffix for path in part.iterdir() if path.suffix.lower() in SOUNDS)
        if kinds and part.name not in NO_SYSTEMS:
            found[part.name] = f"{part.name}/*{kinds.most_common(1)[0][0]}"
    return found


def _copy(file: Path, folder: Path, name: PurePosixPath, room: Room) -> None:
    """Copies a loose file to that name within the folder."""
    if not _inside(name):
        raise InputError(f"“{file.name}” cannot be used: name sounds system_sentence.wav.")
    room.take(file.stat().st_size)
    (folder / name).parent.mkdir(exist_ok=True)
    shutil.copyfile(file, folder / name)


def describe(folder: Path, design: Design, title: str = "My listening test") -> str:
    """The YAML of a test of this design with the sounds in the folder."""
    found = systems(folder)
    lines = [f"title: {_quoted(title)}", f"design: {design}", "", "systems:"]
    lines += [f"  {_quoted(name)}: {_quoted(pattern)}" for name, pattern in found.items()]
    reference = sorted((folder / REFERENCE).glob("*.*"))
    if reference and design in REFERENCED:
        lines.append(f'reference: "{REFERENCE}/*{reference[0].suffix}"')
    stimuli = min((len([*folder.glob(pattern)]) for pattern in found.values()), default=0)
    pairs = len(found) * (len(found) - 1) // 2
    per = 1 if design == "mushra" else pairs if design in PAIRED else len(found)
    lines += [
        "",
        "# How many trials a rater gets. About 20 are done in ten minutes.",
        f"trials: {max(1, min(20, stimuli * per))}",
        "practice: 1",
        "# All sounds are brought to this loudness (LUFS); without the line they stay as they are.",
        "loudness: -23",
        "seed: 1",
        "",
        "instructions: |",
        "  Wear headphones and sit somewhere quiet. Listen as often as you like, then answer.",
        "consent: |",
        "  Say here who asks, what for, and whom to write to.",
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """The text as YAML takes it: with its own letters, for escapes of JSON halve some of them."""
    return json.dumps(text, ensure_ascii=False)


def zipped(folder: Path, file: Path) -> None:
    """Writes the folder as a zip file."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))


def _unzip(file: Path, folder: Path, room: Room) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if _wanted(entry)]
            for entry in entries:  # all of them before the first is written
                room.take(entry.file_size)
            for entry in entries:
                archive.extract(entry, folder)
    except (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise  # not the zip's fault
        raise InputError("This zip cannot be read. Pack it again, without a password.") from error


def _wanted(entry: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(entry.filename)
    return path.suffix.lower() in (*SOUNDS, *OTHERS) and _inside(path)


def _inside(path: PurePosixPath) -> bool:
    """Whether a path stays in its folder, is not hidden, and in no folder that only we write."""
    hidden = any(not part or part.startswith((".", "__MACOSX")) for part in path.parts)
    return not hidden and not path.is_absolute() and not {*path.parts[:-1]} & {*MADE}


def _lift(folder: Path) -> None:
    """Where all lies in one folder of the zip, its content takes its place."""
    inside = [*folder.iterdir()]
    if len(inside) == 1 and inside[0].is_dir() and any(p.is_dir() for p in inside[0].iterdir()):
        only = inside[0].rename(folder / secrets.token_hex(8))
        for path in only.iterdir():
            path.rename(folder / path.name)
        only.rmdir()
