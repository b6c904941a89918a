"""A test from the sounds of a visitor, unpacked from what they upload."""

import errno
import io
import lzma
import mimetypes
import shutil
import struct
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Final

from earshot.core.errors import InputError
from earshot.media.text.letters import composed
from earshot.study.design.designs import DESIGNS, REFERENCE
from earshot.study.design.form import Form, quoted
from earshot.study.design.model import PREPARED
from earshot.study.design.spec import FILE

VIDEOS: Final = (".mp4", ".webm", ".m4v", ".mov", ".mkv")  # which may hold a picture
SOUNDS: Final = (
    *(".wav", ".flac", ".aif", ".aiff", ".ogg", ".oga", ".opus", ".mp3", ".m4a", ".aac", ".wma"),
    *(".amr", ".caf", ".au", ".w64", ".mka", ".3gp"),
    *VIDEOS,
)
OTHERS: Final = (".yaml", ".yml", ".txt", ".json", ".jsonl", ".csv")
NO_SYSTEMS: Final = (REFERENCE, "check", "checks", "practice", "prepared", "results")
MAX_FILES: Final = 2000  # of a test, from all that was uploaded for it
MAX_UNPACKED_BYTES: Final = 300_000_000  # of them
TOO_MUCH: Final = (
    f"This is too much: {MAX_FILES} files and {MAX_UNPACKED_BYTES // 1_000_000} MB are the most in "
    "a test."
)
MAX_LIST_BYTES: Final = 2_000_000  # of a zip's list of entries: 20,000 with names of 50 letters
OUR_FOLDERS: Final = (PREPARED, "results")  # folders that we write, and believe
UNREADABLE: Final = (  # what zipfile raises at a damaged file
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)
FULL: Final = (errno.ENOSPC, errno.EDQUOT)
FILES: Final = (FILE, "test.yml")  # what the test's own file may be called
LONG_NAME: Final = (
    "A name is too long for a file of this server: shorten it, or those of its folders."
)
TOO_MANY_FILES: Final = "There are too many files in this zip. Put only those of the test into it."
UTF8: Final = 0x800  # the flag of a zip's entry whose name is in UTF-8
MAX_NAMES: Final = 5  # of files that a message repeats
NO_SOUNDS: Final = (
    "There are no sounds in this{names}. Upload a zip with a folder for each system, in which the "
    "same sentence has the same file name, or sounds that are named system_sentence.wav; sounds "
    f"and videos are {', '.join(SOUNDS)}."
)


def unpack(files: Sequence[Path], folder: Path) -> None:
    """Put the sounds of zips, and loose ones named system_sentence.wav, into the folder, each in
    that of its system.

    The folder of the systems is looked for in a zip: below others, with other files next to it. A
    sound that lies deeper in the folder of its system, in that of a speaker for example, is called
    after the folders on the way. Where there is a test.yaml, all lies as it says.

    Raises InputError for what is none of this, or too much in all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    allowance = Allowance(MAX_FILES, MAX_UNPACKED_BYTES)
    names: list[str] = []
    for file in files:
        if file.suffix.lower() == ".zip":
            names += _unzip(file, folder, allowance)
        elif file.suffix.lower() in SOUNDS and "_" in file.stem:
            system, sentence = file.stem.split("_", 1)
            _copy(file, folder, PurePosixPath(system, sentence + file.suffix), allowance)
        elif file.name.lower() in FILES:
            _copy(file, folder, PurePosixPath(FILE), allowance)
        else:
            _check_kind(PurePosixPath(file.name))
            names.append(file.name)
    _arrange(folder)
    if not systems(folder) and not (folder / FILE).exists():
        others = f", but {', '.join(names[:MAX_NAMES])}" if names else ""
        raise InputError(NO_SOUNDS.format(names=others + " …" * (len(names) > MAX_NAMES)))


def gather(source: Path, folder: Path) -> None:
    """Copy the sounds below a folder into another, as unpack has them.

    Raises InputError where there are none, and where the source is a test already.
    """
    if not source.is_dir():
        raise InputError(
            f"{source} is no folder: name one with a folder of sounds for each system."
        )
    files = sorted(path for path in source.rglob("*") if path.is_file())
    for path in files:
        if path.name.lower() in FILES:
            raise InputError(f"{path.parent} is a test already: check, freeze and serve that one.")
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        name = PurePosixPath(path.relative_to(source).as_posix().replace("*", "-"))
        if _inside(name):
            _check_kind(name)
        if name.suffix.lower() in SOUNDS and _inside(name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / name)
    _arrange(folder)
    if not systems(folder):
        raise InputError(
            f"{source} has no sounds in it: put a folder of them for each system there, in which "
            f"the same sentence has the same name ({', '.join(SOUNDS)})."
        )


@dataclass
class Allowance:
    """The room that a test still has."""

    files: int
    size: int  # in bytes

    def take(self, size: int) -> None:
        """Give room to a file. Raises InputError where there is none."""
        self.files -= 1
        self.size -= size
        if self.files < 0 or self.size < 0:
            raise InputError(TOO_MUCH)


def systems(folder: Path) -> dict[str, str]:
    """Return the pattern of the sounds of every system that has a folder here, by name."""
    patterns = {}
    for part in sorted(path for path in folder.iterdir() if path.is_dir()):
        if (ending := _ending(part)) and part.name not in NO_SYSTEMS:
            patterns[part.name] = f"{part.name}/*{ending}"
    return patterns


def _ending(folder: Path) -> str | None:
    """Return the ending that most sounds in the folder have; None where there are none."""
    kinds = Counter(path.suffix.lower() for path in _sounds(folder))
    if not kinds:
        return None
    most = kinds.most_common(1)[0][0]
    return next(path.suffix for path in _sounds(folder) if path.suffix.lower() == most)


def _sounds(folder: Path) -> list[Path]:
    """Return the sounds that lie in the folder itself."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in SOUNDS)


def _copy(file: Path, folder: Path, name: PurePosixPath, allowance: Allowance) -> None:
    """Copy a loose file to that name within the folder."""
    if not _inside(name):
        raise InputError(f"“{file.name}” cannot be used: name sounds system_sentence.wav.")
    allowance.take(file.stat().st_size)
    (folder / name).parent.mkdir(exist_ok=True)
    shutil.copyfile(file, folder / name)


def describe(folder: Path, form: Form, names: Collection[str] | None = None) -> str:
    """Return the YAML of the test that the form describes, with the sounds in the folder; names:
    the only systems of the test, where there are others in it."""
    patterns, design = systems(folder), DESIGNS[form.design]
    patterns = {name: each for name, each in patterns.items() if names is None or name in names}
    lines = [*form.head(), "", "systems:"]
    lines += [f"  {quoted(name)}: {quoted(pattern)}" for name, pattern in patterns.items()]
    if (ending := _ending(folder / REFERENCE)) and design.referenced:
        lines.append(f'reference: "{REFERENCE}/*{ending}"')
    stimuli = min((len(_sounds(folder / name)) for name in patterns), default=0)
    each = design.count(len(patterns), reference=False)
    lines += ["", *form.rest(max(1, min(20, stimuli * each)))]
    return "\n".join(lines) + "\n"


def write_zip(folder: Path, file: Path) -> None:
    """Write the folder as a zip file."""
    # Files may be older than 1980, where the times of zips begin.
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))


def _unzip(file: Path, folder: Path, allowance: Allowance) -> list[str]:
    """Unpack what a test may hold into the folder → the names of all that is in the zip."""
    try:
        with BoundedZip(file, "rb") as bounded, zipfile.ZipFile(bounded) as archive:
            for entry in archive.infolist():
                entry.filename = _name(entry)
                if _inside(path := PurePosixPath(entry.filename)) and not entry.is_dir():
                    _check_kind(path)
            entries = [entry for entry in archive.infolist() if _may_hold(entry)]
            for entry in entries:  # all of them before the first is written
                allowance.take(entry.file_size)
            for entry in entries:
                _check_new(entry, folder)
                archive.extract(entry, folder)
            return [entry.filename for entry in archive.infolist()]
    except InputError:
        raise
    except UNREADABLE as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise  # not the zip's fault
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            raise InputError(LONG_NAME) from error
        raise InputError("This zip cannot be read. Pack it again, without a password.") from error


class BoundedZip(io.FileIO):
    """A zip file whose list of entries is read only if it is short: zipfile makes objects of them
    all, millions in 100 MB, before anybody can count them. is_listed: whether that is over, and
    large pieces may be read.
    """

    is_listed = False

    def read(self, size: int | None = -1, /) -> bytes:
        """Return so many bytes: the list of entries at once, all else in small pieces. Raises
        InputError where the list is too long."""
        if size and size > MAX_LIST_BYTES and not self.is_listed:
            raise InputError(TOO_MANY_FILES)
        return super().read(size)


def _name(entry: zipfile.ZipInfo) -> str:
    """Return the path of an entry, in NFC: some programs for Windows write backslashes, and
    macOS names in UTF-8 without saying so. A * would be taken for a pattern's.
    """
    name = entry.filename.replace("\\", "/").replace("*", "-")
    if not entry.flag_bits & UTF8:
        with suppress(UnicodeError):  # in the letters of DOS, as it says
            name = name.encode("cp437").decode("utf-8")
    return composed(name)


def _check_new(entry: zipfile.ZipInfo, folder: Path) -> None:
    """Raise InputError where another sound was unpacked to the place of an entry."""
    path = folder / entry.filename
    is_taken = path.suffix.lower() in SOUNDS and path.is_file()
    if is_taken and zlib.crc32(path.read_bytes()) != entry.CRC:
        raise InputError(f"There are two sounds called {entry.filename}: rename one of them.")


def _may_hold(entry: zipfile.ZipInfo) -> bool:
    """Whether a test may hold the entry: a sound, or a text."""
    path = PurePosixPath(entry.filename)
    return not entry.is_dir() and path.suffix.lower() in (*SOUNDS, *OTHERS) and _inside(path)


def _check_kind(path: PurePosixPath) -> None:
    """Raise InputError for a sound or video of a kind that no test has: a system of such sounds
    would be left out without a word."""
    kind = mimetypes.guess_type(path.name)[0] or ""
    if kind.startswith(("audio/", "video/")) and path.suffix.lower() not in SOUNDS:
        raise InputError(f"{path} cannot be in a test: sounds and videos are {', '.join(SOUNDS)}.")


def _inside(path: PurePosixPath) -> bool:
    """Whether a path stays in its folder, is not hidden, and in no folder that only we write."""
    hidden = any(not part or part.startswith((".", "__MACOSX")) for part in path.parts)
    return not hidden and not path.is_absolute() and not {*path.parts[:-1]} & {*OUR_FOLDERS}


def _arrange(folder: Path) -> None:
    """Bring the folder of the systems, or of the test's file, to the top, and sounds that lie below
    their system's into it."""
    files = [path for path in folder.rglob("*") if path.name.lower() in FILES and path.is_file()]
    if files:
        file = min(files, key=lambda path: (len(path.parts), path.name != FILE))
        file = file.rename(file.with_name(FILE))
        _lift(folder, file.parent)
        return
    root = folder
    while len(inside := [*_holding(root)]) == 1 and any(_holding(inside[0])):
        root = inside[0]
    _lift(folder, root)
    for sound in _sounds(folder):
        system, parted, sentence = sound.name.partition("_")
        if parted and _inside(PurePosixPath(system, sentence)):
            (folder / system).mkdir(exist_ok=True)
            sound.rename(folder / system / sentence)
    for system in _holding(folder):
        for sound in sorted(system.rglob("*")):
            below = sound.relative_to(system).parts
            if sound.suffix.lower() in SOUNDS and len(below) > 1:
                targets = (system / ("-" * dashes).join(below) for dashes in count(1))
                try:
                    sound.rename(next(target for target in targets if not target.exists()))
                except OSError as error:
                    if error.errno != errno.ENAMETOOLONG:
                        raise
                    raise InputError(LONG_NAME) from error


def _holding(folder: Path) -> Iterator[Path]:
    """Yield the folders in the folder that hold sounds, at any depth."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and any(each.suffix.lower() in SOUNDS for each in path.rglob("*")):
            yield path


def _lift(folder: Path, root: Path) -> None:
    """Move what lies in root, below the folder, into the place of all that the folder holds."""
    if root == folder:
        return
    away = Path(tempfile.mkdtemp(dir=folder.parent))
    root.rename(away / root.name)
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in (away / root.name).iterdir():
        path.rename(folder / path.name)
    shutil.rmtree(away)
