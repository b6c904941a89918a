"""What can be searched: our sounds, shared by all, or a visitor's own, which go when they leave."""

import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import gradio as gr
from gradio.utils import get_upload_folder

from media.errors import InputError
from tabs.shared.sessions import is_upload
from tabs.sound_search.catalogue import Shelf

if TYPE_CHECKING:
    from pipelines.sound_search import SoundSearch
    from pipelines.sound_search.index import SoundIndex

MOST_FILES: Final = 200  # of a visitor's own
MOST_SECONDS: Final = 7200.0  # of them together
FILES_AT_ONCE: Final = 4  # added between two moments at which the visitor can stop
# What browsers play; anything else is kept as WAV.
PLAYABLE: Final = (".wav", ".mp3", ".ogg", ".oga", ".opus", ".flac", ".m4a", ".webm", ".mp4")


class Library(Shelf):
    """An index that can be searched."""

    def __init__(self, index: "SoundIndex", own: bool = False) -> None:
        super().__init__(lambda: index.library, own)
        self.index = index


class OwnLibrary(Library):
    """One visitor's sounds, in a folder that nobody else is told of."""

    def __init__(self, search: "SoundSearch") -> None:
        from pipelines.sound_search.index import SoundIndex  # late, for it loads torch

        super().__init__(SoundIndex.empty(search.encoder), own=True)
        Path(get_upload_folder()).mkdir(parents=True, exist_ok=True)
        # Gradio serves what lies in its folder; Python deletes this one with the object, too.
        self.folder = TemporaryDirectory(prefix="sounds-", dir=get_upload_folder())

    @property
    def seconds(self) -> float:
        """How long the sounds are together."""
        return sum(sound.seconds for sound in self.sounds)

    def close(self) -> None:
        """Forgets the sounds and deletes their files."""
        self.index.remove([sound.id for sound in self.sounds])
        self.pictures.clear()
        self.folder.cleanup()

    def add(self, files: Sequence[str]) -> Iterator[tuple[int, list[tuple[str, str]]]]:
        """Takes uploaded files over → again and again, how many are done, and all (name, reason)
        of those that were skipped. What was yielded is there to be searched."""
        skipped: list[tuple[str, str]] = []
        for first in range(0, len(files), FILES_AT_ONCE):
            paths = []
            for file in map(Path, files[first : first + FILES_AT_ONCE]):
                try:
                    paths.append(self._take(file, len(paths)))
                except InputError as error:
                    skipped.append((file.name, str(error)))
            skipped += self.index.add(paths).skipped
            yield min(first + FILES_AT_ONCE, len(files)), skipped

    def _take(self, file: Path, waiting: int) -> Path:
        """Moves an upload to this visitor's folder, as a file that browsers play. Its folder there
        is named after its content, so that two files of one name stay two."""
        if len(self.sounds) + waiting >= MOST_FILES:
            raise InputError(f"There is room for {MOST_FILES} files only.")
        if self.seconds > MOST_SECONDS:
            raise InputError(f"There is room for {MOST_SECONDS / 3600:g} hours of sound only.")
        if not file.exists():
            raise InputError("The upload did not arrive. Add it again.")
        place = Path(self.folder.name) / file.parent.name
        place.mkdir(exist_ok=True)
        if file.suffix.lower() in PLAYABLE:
            take = shutil.move if is_upload(file) else shutil.copy
            return Path(take(file, place / file.name))
        from media.audio.load import (
            load,
            wav_bytes,  # late, for they load scipy
        )

        recording = load(file, 32_000, max_seconds=3600)
        path = place / f"{file.stem}.wav"
        path.write_bytes(wav_bytes(recording.waveform, recording.sample_rate))
        if is_upload(file):
            file.unlink()
        return path


class Ours:
    """Our own library: its sounds at once, and its index once there is a model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._library: Library | None = None
        self._lock = threading.Lock()

    def shelf(self) -> tuple[str, Shelf]:
        """The fingerprint of the model that the index is of, and its sounds, without that model.

        Raises InputError where the index is missing or damaged.
        """
        from pipelines.sound_search import store  # late, for it loads torch

        if self._library:
            return self._library.index.encoder.fingerprint, self._library
        about, stored = store.read(self.folder)
        return about.fingerprint, Shelf(lambda: stored)

    def __call__(self, search: "SoundSearch", progress: gr.Progress | None = None) -> Library:
        """The library for this model, which hears its sounds anew if the index is of another.

        Raises InputError where the index is missing or damaged.
        """
        from pipelines.sound_search.index import SoundIndex  # late, for it loads torch

        def show(done: int, total: int, _: str) -> None:
            if progress:
                progress((done, total), desc="A new model listens to our sounds", unit="sounds")

        with self._lock:
            if self._library is None:
                fingerprint, shelf = self.shelf()
                if fingerprint == search.encoder.fingerprint:
                    self._library = Library(SoundIndex.open(self.folder, search.encoder))
                else:
                    index = SoundIndex.empty(search.encoder)
                    captions = {sound.name: (sound.kind, sound.caption) for sound in shelf.sounds}
                    index.add([sound.path for sound in shelf.sounds], captions, show)
                    self._library = Library(index)
            return self._library
