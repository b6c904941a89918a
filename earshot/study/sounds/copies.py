"""The copies of a test's sounds that raters hear, with the pictures that they see; how they are
sent; and the hashes by which one notices a sound that is exchanged later under its old name.

Sounds are FLAC of 24 bits without tags, and are sent as WAV with noise of one step of these 24 bits
(-138 dBFS), another for each rater and position. So neither format, tags, size nor bytes
distinguish one system from another, or the hidden reference from the open one. Pictures stay as
they are encoded, without tags (earshot.study.sounds.pictures).
"""

import hashlib
import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import uuid4

import numpy as np
import soundfile

from earshot.core.errors import InputError
from earshot.core.files import file_hash
from earshot.core.files import write as write_file
from earshot.media.workers import stream
from earshot.study.design import Test
from earshot.study.design.folder import VIDEOS
from earshot.study.design.model import PREPARED
from earshot.study.sounds.pictures import Picture, read_picture

MARK: Final = "checked.json"
OURS: Final = re.compile(r"[0-9a-f]{16}\.(flac|wav|mp4|webm)")  # what we write, or once wrote
BLOCK: Final = 2**18  # frames that are sent at once: mostly the whole sound
DEPTH: Final = 24  # bits of a sample
PCM: Final = 1  # the code of WAV
TOLERANCE: Final = 0.001  # seconds
UNREADABLE: Final = (OSError, soundfile.LibsndfileError)
HEADER: Final = struct.Struct("<4sI4s4sIHHIIHH4sI")
EXCHANGED: Final = (
    "The sounds of this test are not those that raters have answered ({names}): bring them back, "
    "or give the changed test another name."
)
MAX_SECONDS: Final = 600.0  # of a sound
MAX_FILES: Final = 20_000  # whose hashes are remembered while they do not change
MAX_NAMES: Final = 3  # of files that a message repeats


class Source(NamedTuple):
    """The source of a copy: a file, for anchors below cutoff in Hz."""

    path: Path
    cutoff: float | None = None


class Copy(NamedTuple):
    """A sound as raters hear it: a file, how long it lasts, and the picture next to it, if any."""

    path: Path
    seconds: float
    picture: Picture | None = None

    @property
    def picture_path(self) -> Path | None:
        """Name the file of the picture."""
        return self.path.with_name(self.picture.name) if self.picture else None

    def whole(self) -> bool:
        """Whether the file is there, can be read, and lasts as long; and its picture is there."""
        try:
            if self.picture_path and not self.picture_path.is_file():
                return False
            return abs(soundfile.info(self.path).duration - self.seconds) < TOLERANCE
        except UNREADABLE:
            return False


class Copies:
    """The copies of a test in a folder, one for each source."""

    def __init__(self, folder: Path, test: Test, sources: Iterable[Source]) -> None:
        self.folder, self.test, self.sources = folder, test, list(dict.fromkeys(sources))
        self._seconds: dict[str, float] = {}
        self._pictures: dict[str, Picture] = {}

    def of(self, source: Source) -> Copy:
        """Find the copy of a source, once all are checked."""
        name = self._name(source)
        return Copy(self.folder / name, self._seconds[name], self._pictures.get(name))

    def write_picture(self, picture: Picture, content: np.ndarray) -> None:
        """Write the file of a picture, uint8 (N,)."""
        write_file(self.folder / picture.name, content.tobytes())

    def write(
        self, source: Source, samples: np.ndarray, sample_rate: int, picture: Picture | None
    ) -> None:
        """Write the copy of samples (T, channels), which is then there as a whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"{uuid4().hex}.part"
        try:
            soundfile.write(part, samples, sample_rate, f"PCM_{DEPTH}", format="FLAC")
            part.replace(self.folder / self._name(source))
        except soundfile.LibsndfileError as error:
            raise InputError(
                f"{sample_rate} Hz cannot be kept: resample it, to 48000 Hz for example."
            ) from error
        finally:
            part.unlink(missing_ok=True)
        self._seconds[self._name(source)] = len(samples) / sample_rate
        if picture:
            self._pictures[self._name(source)] = picture

    def checked(self) -> bool:
        """Whether the mark states that these very sources were found good, and all copies
        stand.
        """
        try:
            mark = json.loads((self.folder / MARK).read_text())
            state, seconds = mark["state"], dict(mark["seconds"])
            pictures = {name: Picture(*each) for name, each in mark.get("pictures", {}).items()}
        except (OSError, ValueError, KeyError, TypeError):
            return False
        if not all(source.path.is_file() for source in self.sources) or state != self._state():
            return False
        names = {self._name(source) for source in self.sources}
        if names != {*seconds}:
            return False
        copies = (Copy(self.folder / name, seconds[name], pictures.get(name)) for name in names)
        if not all(copy.whole() for copy in copies):
            return False
        self._seconds, self._pictures = seconds, pictures
        return True

    def mark(self) -> None:
        """Note that all was found good, and delete the copies of what is no longer there."""
        part = self.folder / f"{uuid4().hex}.part"
        mark = {"state": self._state(), "seconds": self._seconds, "pictures": self._pictures}
        part.write_text(json.dumps(mark))
        part.replace(self.folder / MARK)
        names = {*self._seconds, *(picture.name for picture in self._pictures.values())}
        for path in self.folder.iterdir():
            if OURS.fullmatch(path.name) and path.name not in names:
                path.unlink(missing_ok=True)

    def _state(self) -> str:
        """Hash all that was checked."""
        content = [
            self.test.design.name,
            self.test.fingerprint,
            sorted(map(self._name, self.sources)),
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def _name(self, source: Source) -> str:
        """Name the copy by a hash of the file, and of what is done to it."""
        file = source.path.stat()
        path = source.path.relative_to(self.test.folder).as_posix()
        content = [path, file.st_size, file.st_mtime_ns, source.cutoff, self.test.loudness]
        if source.path.suffix.lower() in VIDEOS:  # which once were prepared as sounds alone
            content.append("with its picture")
        return f"{hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]}.flac"


def as_wav(path: Path, seed: bytes) -> tuple[int, Iterator[bytes]]:
    """Write the copy as a WAV file: its size in bytes, and its bytes in blocks. The seed (32 bytes)
    gives the noise of one step.
    """
    file = soundfile.SoundFile(path)
    width = DEPTH // 8 * file.channels
    size = file.frames * width
    header = HEADER.pack(
        b"RIFF", HEADER.size - 8 + size, b"WAVE", b"fmt ", 16, PCM, file.channels,
        file.samplerate, file.samplerate * width, width, DEPTH, b"data", size,
    )  # fmt: skip

    def blocks() -> Iterator[bytes]:
        random = np.random.Generator(np.random.SFC64(np.frombuffer(seed, "<u4").tolist()))
        head = header
        with file:
            for block in file.blocks(BLOCK, dtype="int32", always_2d=True):
                steps = np.right_shift(block, 32 - DEPTH, dtype=np.int32)
                steps += random.integers(-1, 2, block.shape, dtype=np.int32)
                yield head + _packed(np.clip(steps, -(2**23), 2**23 - 1))
                head = b""

    return HEADER.size + size, blocks()


def _packed(samples: np.ndarray) -> bytes:
    """Pack samples of 24 bits (T, channels) as WAV takes them: three bytes each, the lowest
    first.
    """
    return samples.astype("<i4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()


def file_hashes(test: Test) -> dict[str, str]:
    """Hash the files of a test's sounds, by their paths relative to its folder. Those that are not
    there are left out."""
    return {name: _file_hash(*_state_of(path)) for name, path in _sound_files(test).items()}


def sample_hashes(test: Test) -> dict[str, str]:
    """Hash what is heard and seen of each of these files, whatever tags it has and however it is
    packed; nothing for what cannot be decoded."""
    return {name: _sample_hash(*_state_of(path)) for name, path in _sound_files(test).items()}


def describe_sounds(test: Test) -> dict[str, Any]:
    """Describe what raters hear: {"loudness": LUFS or None, "files": hashes, "samples": hashes}."""
    files, samples = file_hashes(test), sample_hashes(test)
    return {"loudness": test.loudness, "files": files, "samples": samples}


def other_sounds(test: Test, files: Mapping[str, str], samples: Mapping[str, str]) -> list[str]:
    """List the files in which something else is heard or seen than in those with these hashes;
    only what has other bytes is decoded."""
    return [
        name
        for name, path in _sound_files(test).items()
        if name in files and files[name] != _file_hash(*_state_of(path))
        if not samples.get(name) or samples[name] != _sample_hash(*_state_of(path))
    ]


def same_systems(test: Test) -> list[tuple[str, str]]:
    """List the pairs of systems that have the same file, or copies of one, in every trial."""
    hashes = file_hashes(test)
    sounds: dict[str, list[tuple[str, str]]] = {}
    for trial in test.of_kind("trial"):
        for system, path in trial.sounds.items():
            name = path.relative_to(test.folder).as_posix()
            sounds.setdefault(system, []).append((trial.stimulus, hashes.get(name, name)))
    pairs = combinations((name for name in test.systems if name in sounds), 2)
    return [(a, b) for a, b in pairs if {*sounds[a]} == {*sounds[b]}]


def _sound_files(test: Test) -> dict[str, Path]:
    sounds = {path for trial in test.trials for path in trial.sounds.values()}
    sounds |= {trial.reference for trial in test.trials if trial.reference}
    prepared = test.folder / PREPARED  # from the others
    files = sorted(path for path in sounds if path.is_file() and path.parent != prepared)
    return {path.relative_to(test.folder).as_posix(): path for path in files}


def sound_difference(test: Test, before: Mapping[str, Any] | None) -> str | None:
    """Describe how the sounds differ from those that were played before; None where they do not,
    where nothing was kept of them, or where files are only away.
    """
    if not before:
        return None
    names = other_sounds(test, before["files"], before.get("samples", {}))
    if not names and test.loudness == before["loudness"]:
        return None
    more = " …" * (len(names) > MAX_NAMES)
    listing = ", ".join(names[:MAX_NAMES]) + more or f"loudness {before['loudness']} before"
    return EXCHANGED.format(names=listing)


def _state_of(path: Path) -> tuple[Path, int, int]:
    status = path.stat()
    return path, status.st_size, status.st_mtime_ns


@lru_cache(MAX_FILES)
def _file_hash(path: Path, size: int, changed: int) -> str:
    return file_hash(path)


@lru_cache(MAX_FILES)
def _sample_hash(path: Path, size: int, changed: int) -> str:
    digest, about = hashlib.sha256(), []
    try:
        for header, block in stream("audio", path, max_seconds=MAX_SECONDS, mono=False):
            assert block is not None
            digest.update(block.T.tobytes())
            about = [header["sample_rate"], len(block)]
        picture = read_picture(path)
    except InputError:
        return ""
    digest.update(json.dumps([*about, picture and picture[0].name]).encode())
    return digest.hexdigest()
