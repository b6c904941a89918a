"""A test from sounds that somebody brings: unpacked, described, and put among those that open."""

import io
import json
import re
import secrets
import shutil
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from media.errors import InputError
from study.design.model import PAIRED, REFERENCE, REFERENCED, Design
from study.design.spec import FILE
from study.library import Library

SOUNDS: Final = (".wav", ".flac", ".ogg", ".opus", ".mp3", ".m4a")
OTHERS: Final = (".yaml", ".yml", ".txt", ".json", ".jsonl", ".csv")
NO_SYSTEMS: Final = (REFERENCE, "check", "checks", "practice", "prepared", "results")
MOST_FILES: Final = 2000
MOST_BYTES: Final = 300_000_000  # unpacked
NOTHING: Final = (
    "There are no sounds in this. Bring a zip with a folder for each system, in which the same "
    "sentence has the same file name, or sounds that are named system_sentence.wav."
)


def unpack(files: Sequence[Path], folder: Path) -> None:
    """Puts the sounds of a zip, or loose ones named system_sentence.wav, into the folder, each in
    that of its system. Raises InputError for what is none of this, or too much."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        if file.suffix.lower() == ".zip":
            _unzip(file, folder)
        elif file.suffix.lower() in SOUNDS and "_" in file.stem:
            system, sentence = file.stem.split("_", 1)
            (folder / system).mkdir(exist_ok=True)
            shutil.copyfile(file, folder / system / (sentence + file.suffix))
        elif file.name == FILE:
            shutil.copyfile(file, folder / FILE)
    _lift(folder)
    if not systems(folder) and not (folder / FILE).exists():
        raise InputError(NOTHING)


def systems(folder: Path) -> dict[str, str]:
    """The pattern of the sounds of every system that has a folder here, by name."""
    found = {}
    for part in sorted(path for path in folder.iterdir() if path.is_dir()):
        kinds = Counter(path.suffix for path in part.iterdir() if path.suffix.lower() in SOUNDS)
        if kinds and part.name not in NO_SYSTEMS:
            found[part.name] = f"{part.name}/*{kinds.most_common(1)[0][0]}"
    return found


def describe(folder: Path, design: Design, title: str = "My listening test") -> str:
    """The YAML of a test of this design with the sounds in the folder."""
    found = systems(folder)
    lines = [f"title: {json.dumps(title)}", f"design: {design}", "", "systems:"]
    lines += [f"  {json.dumps(name)}: {json.dumps(pattern)}" for name, pattern in found.items()]
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


def publish(folder: Path, title: str, tests: Library) -> str:
    """Copies a test among those that open → its name, which cannot be guessed.

    Raises SpecError with what is wrong, and then leaves nothing.
    """
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-")
    name = f"{words or 'test'}-{secrets.token_hex(4)}"
    target = tests.folders[0] / name
    shutil.copytree(folder, target)
    try:
        tests.open(name)
    except BaseException:
        shutil.rmtree(target)
        raise
    return name


def zipped(folder: Path) -> bytes:
    """The folder as a zip file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return content.getvalue()


def _unzip(file: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if _wanted(entry)]
            if len(entries) > MOST_FILES or sum(e.file_size for e in entries) > MOST_BYTES:
                most = f"{MOST_FILES} files and {MOST_BYTES // 1_000_000} MB"
                raise InputError(f"This zip holds too much: {most} are the most.")
            for entry in entries:
                archive.extract(entry, folder)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise InputError("This zip cannot be read. Pack it again, without a password.") from error


def _wanted(entry: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(entry.filename)
    hidden = any(part.startswith((".", "__MACOSX")) or part == ".." for part in path.parts)
    return path.suffix.lower() in (*SOUNDS, *OTHERS) and not hidden and not path.is_absolute()


def _lift(folder: Path) -> None:
    """Where all lies in one folder of the zip, its content takes its place."""
    inside = [*folder.iterdir()]
    if len(inside) == 1 and inside[0].is_dir() and any(p.is_dir() for p in inside[0].iterdir()):
        only = inside[0].rename(folder / secrets.token_hex(8))
        for path in only.iterdir():
            path.rename(folder / path.name)
        only.rmdir()
