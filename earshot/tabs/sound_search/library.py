"""Libraries to search: that of the demo, shared by all, and a visitor's own, which is private; and
the systems that embed them.
"""

import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import gradio as gr
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from earshot.core.errors import InputError
from earshot.core.loading import once
from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, wav_bytes
from earshot.sound_index.address import UnreachableError
from earshot.sound_index.stored import time_written
from earshot.systems.registry import Offer
from earshot.tabs.shared.gradio_internals import upload_folder
from earshot.tabs.sound_search.catalogue import ROUTE, Catalogue, media_type

if TYPE_CHECKING:
    from earshot.sound_index.index import SoundIndex
    from earshot.sound_index.sound import Description, Sound
    from earshot.systems.sound_search import SoundSearch

Engine = tuple["SoundSearch", "DemoLibrary"]
Remark = tuple[str, str]  # the name of a file, and what is said of it
NOSNIFF: Final = {"X-Content-Type-Options": "nosniff"}
SHIPPED: Final = ASSETS / "sounds.index"
MAX_FILES: Final = 200  # of one visitor
MAX_SECONDS: Final = 7200.0  # of these files together
OURS: Final = "Ours"
NO_SYSTEM: Final = "Choose a system first."
UNREACHABLE: Final = "The sounds cannot be fetched now. Try again later, or take our model."
ADDED_MEANWHILE: Final = "Sounds were added meanwhile. Try again."
FILES_AT_ONCE: Final = 4  # added between two moments at which the visitor can stop
# Formats that browsers play; others are converted to WAV.
PLAYABLE: Final = (".wav", ".mp3", ".ogg", ".oga", ".opus", ".flac", ".m4a", ".webm", ".mp4")


class IndexedCatalogue(Catalogue):
    """A catalogue with a searchable index."""

    def __init__(self, index: "SoundIndex", own: bool = False, shipped: bool = False) -> None:
        super().__init__(lambda: index.library, own, shipped)
        self.index = index

    @property
    def threshold(self) -> float:
        """Return the score of a match in this library."""
        encoder = self.index.encoder
        return encoder.threshold if self.shipped else encoder.own_threshold


class VisitorLibrary(IndexedCatalogue):
    """One visitor's sounds, in a folder of their own."""

    def __init__(self, search: "SoundSearch") -> None:
        from earshot.sound_index.index import SoundIndex  # late, for it loads torch

        super().__init__(SoundIndex.empty(search.encoder), own=True)
        self.cleared = 0  # how often
        self._adding = threading.Lock()
        upload_folder().mkdir(parents=True, exist_ok=True)
        # Gradio serves files in its folder. The subfolder is deleted with this object.
        self._joint: tuple[object, JointCatalogue] | None = None
        self.folder = TemporaryDirectory(prefix="sounds-", dir=upload_folder())

    @property
    def seconds(self) -> float:
        """Add up the duration of the sounds."""
        return sum(sound.seconds for sound in self.sounds)

    def clear(self) -> None:
        """Remove the sounds and delete their files."""
        self.cleared += 1
        self.index.remove([sound.id for sound in self.sounds])
        self.pictures.clear()
        for folder in Path(self.folder.name).iterdir():
            shutil.rmtree(folder, ignore_errors=True)

    def together(self, demo: IndexedCatalogue) -> "JointCatalogue":
        """Join the sounds with those of the demo, once for each state of both."""
        state = demo.index.library, self.index.library
        if self._joint is None or self._joint[0] != state:
            self._joint = state, JointCatalogue(demo, self)
        return self._joint[1]

    def embed_by(self, search: "SoundSearch", progress: gr.Progress | None = None) -> None:
        """Embed the sounds anew where they were embedded by another model. Raises InputError where
        others were added meanwhile.
        """
        if search.encoder.fingerprint != self.index.encoder.fingerprint:
            before = self.index.library
            index = _embedded(self, search, progress)
            with self._adding:
                if self.index.library is not before:
                    raise InputError(ADDED_MEANWHILE)
                self.index = index
                self.stored = lambda: index.library

    def add(self, files: Sequence[str]) -> Iterator[tuple[int, list[Remark], list[Remark]]]:
        """Add uploaded files in small steps. Yields after each step the number of files done,
        (name, reason) of all that were skipped, and (name, notice) of what was added; that can be
        searched by then. A captions.csv among them describes the others (sound_index/scan.py)."""
        from earshot.sound_index.scan import (
            CAPTIONS,
            described,
            read_captions,
        )

        skipped: list[Remark] = []
        noticed: list[Remark] = []
        captions: dict[str, Description] = {}
        for table in (file for file in map(Path, files) if file.name == CAPTIONS):
            try:
                captions |= read_captions(table)
            except InputError as error:
                skipped.append((table.name, str(error)))
        sounds = [file for file in map(Path, files) if file.name != CAPTIONS]
        if not sounds:
            alone = (CAPTIONS, "Add it together with the sounds that it describes.")
            yield 0, skipped or [alone], noticed
        descriptions, problems = described(captions, sounds)
        skipped += ((CAPTIONS, problem) for problem in problems)
        for first in range(0, len(sounds), FILES_AT_ONCE):
            copies: dict[Path, Path] = {}
            for file in sounds[first : first + FILES_AT_ONCE]:
                try:
                    copy, notices = self._copy(file, len(copies))
                    copies[copy] = file
                    noticed += ((file.name, notice) for notice in notices)
                except InputError as error:
                    skipped.append((file.name, str(error)))
            about = {
                copy: descriptions[file] for copy, file in copies.items() if file in descriptions
            }
            with self._adding:
                report = self.index.add(copies, about)
            skipped += ((path.name, reason) for path, reason in report.skipped)
            noticed += ((copies[path].name, notice) for path, notice in report.noticed)
            yield min(first + FILES_AT_ONCE, len(sounds)), skipped, [*dict.fromkeys(noticed)]

    def _copy(self, file: Path, waiting: int) -> tuple[Path, Sequence[str]]:
        """Copy an upload to the visitor's folder, in a format that browsers play; with the notices
        of what was converted.

        The upload itself stays: another visitor who uploads the same file has the same path. Its
        folder is named by a hash of its content, and so is its folder here, so that files with the
        same name stay apart.
        """
        if len(self.sounds) + waiting >= MAX_FILES:
            raise InputError(f"There is room for {MAX_FILES} files only.")
        if self.seconds > MAX_SECONDS:
            raise InputError(f"There is room for {MAX_SECONDS / 3600:g} hours of sound only.")
        if not file.exists():
            raise InputError("The upload did not arrive. Add it again.")
        folder = Path(self.folder.name) / file.parent.name
        folder.mkdir(exist_ok=True)
        if file.suffix.lower() in PLAYABLE:
            return _link(file, folder / file.name), ()
        recording = load(file, 32_000, max_seconds=3600)
        path = folder / f"{file.stem}.wav"
        path.write_bytes(wav_bytes(recording.waveform, recording.sample_rate))
        return path, recording.notices


class JointCatalogue(IndexedCatalogue):
    """The library of the demo and a visitor's sounds, searched and shown together."""

    def __init__(self, demo: IndexedCatalogue, own: VisitorLibrary) -> None:
        from earshot.sound_index.index import SoundIndex  # late: loads torch
        from earshot.sound_index.library import JointLibrary

        joint = JointLibrary(demo.index.library, own.index.library)
        super().__init__(SoundIndex(own.index.encoder, joint))
        self._demo, self._own = demo, own

    @property
    def categories(self) -> Sequence[str]:
        return (*self._demo.categories, *self._own.categories)

    def category(self, sound: "Sound") -> str:
        return self._of(sound).category(sound)

    def picture(self, sound: "Sound") -> str:
        return self._of(sound).picture(sound)

    def served(self, sound: "Sound") -> Path | str:
        return self._of(sound).served(sound)

    def _of(self, sound: "Sound") -> IndexedCatalogue:
        return self._demo if sound.id in self._demo.index else self._own


class DemoLibrary:
    """The library of the demo: its sounds at once, and its index when the model is loaded."""

    def __init__(self, folder: Path, backend: str | None = None) -> None:
        """Keep the folder. backend: where the index is searched, if not as it was made."""
        self.folder, self.backend = folder, backend
        self._library: IndexedCatalogue | None = None
        self._opened = 0  # when the index was written that the library was opened from
        self._read: tuple[int, str, Catalogue] | None = None
        self._lock = threading.Lock()

    @property
    def shipped(self) -> bool:
        """Whether these are Earshot's sounds."""
        return self.folder.resolve() == SHIPPED.resolve()

    def catalogue(self) -> tuple[str, Catalogue]:
        """Read the fingerprint of the model that made the index, and the sounds; no model is
        loaded.

        Raises InputError if the index is missing or damaged.
        """
        from earshot.sound_index.index import read_index  # late, for it loads FAISS

        # Read again only when the index was replaced: every visit to the page comes here.
        if self._library and not self._replaced():
            return self._library.index.encoder.fingerprint, self._library
        written = time_written(self.folder)
        if self._read is None or self._read[0] != written:
            about, stored = read_index(self.folder, self.backend)
            self._read = written, about.fingerprint, Catalogue(lambda: stored, shipped=self.shipped)
        return self._read[1:]

    def __call__(
        self, search: "SoundSearch", progress: gr.Progress | None = None
    ) -> IndexedCatalogue:
        """Open the library for this model, and again when its index was replaced. With another
        model than made the index, its sounds are embedded anew.

        Raises InputError if the index is missing or damaged.
        """
        from earshot.sound_index.index import SoundIndex

        with self._lock:
            if self._library is None or self._replaced():
                written = time_written(self.folder)
                fingerprint, catalogue = self.catalogue()
                if fingerprint == search.encoder.fingerprint:
                    index = SoundIndex.open(self.folder, search.encoder, self.backend)
                else:
                    index = _embedded(catalogue, search, progress)
                library = IndexedCatalogue(index, shipped=self.shipped)
                library.pictures.update(catalogue.pictures)
                self._library, self._opened = library, written
            return self._library

    def route(self) -> Route:
        """Serve the sounds of the index, and nothing else of their folder."""
        return Route(f"/{ROUTE}/{{name}}", self._serve)

    def _serve(self, request: Request) -> Response:
        stored = self.catalogue()[1].stored()
        number = stored.numbers.get(request.path_params["name"].partition(".")[0])
        try:
            sound = stored.sounds[number] if number is not None else None
            if sound and (file := sound.file).is_file():
                kind = media_type(file.name)
                return FileResponse(file, media_type=kind, headers=NOSNIFF)
        except InputError:  # a bucket is away
            pass
        return PlainTextResponse("This sound is not here.", 404)

    def _replaced(self) -> bool:
        """Whether the index is another than was opened; not while there is none."""
        try:
            return time_written(self.folder) != self._opened
        except InputError:
            return False


class Systems:
    """The systems of the tab: ours, and plug-ins, each with the library as it embeds it."""

    def __init__(self, offer: "Offer[SoundSearch]", demo: DemoLibrary) -> None:
        self.offer = offer
        self._demo = demo

        def load(name: str) -> Engine:
            return offer.any(name), DemoLibrary(demo.folder)

        self._load = once(load)

    def __call__(self, name: str) -> Engine:
        """Load a system by its name, "" for ours, with Earshot's sounds as it embeds them. Raises
        InputError where it is not offered, and PlugInError for its faults.
        """
        if not name:
            return self.offer(), self._demo
        if name not in self.offer.plugged:
            raise InputError(NO_SYSTEM)
        return self._load(name)

    def label(self, name: str) -> str:
        """Return what a menu calls a system."""
        return self.offer.plugged.get(name, OURS)


def _embedded(
    catalogue: Catalogue, search: "SoundSearch", progress: gr.Progress | None
) -> "SoundIndex":
    """Embed the same sounds into an index of this model."""
    from earshot.sound_index.index import SoundIndex  # late, for it loads torch

    def show(done: int, total: int, _: str) -> None:
        if progress:
            progress((done, total), desc="Embedding the library with a new model", unit="sounds")

    index, sounds = SoundIndex.empty(search.encoder), catalogue.sounds
    captions = {sound.path: sound.description for sound in sounds}
    try:
        index.add([sound.path for sound in sounds], captions, show)
    except UnreachableError as error:
        raise InputError(UNREACHABLE) from error
    return index


def _link(file: Path, target: Path) -> Path:
    """Give the file a second name, or make a copy where the disk has no hard links."""
    target.unlink(missing_ok=True)
    try:
        os.link(file.resolve(), target)
    except OSError:
        shutil.copyfile(file, target)
    return target
