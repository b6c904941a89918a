"""A draft of a test: sounds that a visitor chose one by one, in memory."""

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from earshot.core.errors import InputError
from earshot.core.files import write
from earshot.study.design.designs import REFERENCE
from earshot.study.design.folder import describe
from earshot.study.design.form import Form
from earshot.study.design.spec import FILE

MAX_SOUNDS: Final = 60
MAX_DRAFT_BYTES: Final = 60_000_000  # of them, which stay in memory
MAX_SECONDS: Final = 60.0  # that one may last
NOTES: Final = "sounds.jsonl"


@dataclass(frozen=True)
class DraftItem:
    """A sound for a test: system is what made it, from `source` with these settings. Sounds of the
    same source are one stimulus; sound is a file, and source is one too, or a text. video: whether
    the files are MP4, which are kept as they are.
    """

    system: str
    sound: bytes
    source: bytes | str
    settings: Mapping[str, Any]
    video: bool = False

    @property
    def size(self) -> int:
        """Return the number of bytes of its sounds."""
        return len(self.sound) + len(self.source)

    @property
    def stimulus(self) -> str:
        """Return the name of all sounds from one source."""
        source = self.source if isinstance(self.source, bytes) else self.source.encode()
        return hashlib.sha256(source).hexdigest()[:8]


@dataclass
class Draft:
    """The draft of one visitor: its items by system and stimulus."""

    items: dict[tuple[str, str], DraftItem] = field(default_factory=dict)
    _adding: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add(self, item: DraftItem) -> None:
        """Add the item, in place of one of the same system and source."""
        with self._adding:
            items = {**self.items, (item.system, item.stimulus): item}
            if (
                len(items) > MAX_SOUNDS
                or sum(each.size for each in items.values()) > MAX_DRAFT_BYTES
            ):
                raise InputError(
                    f"A draft holds {MAX_SOUNDS} sounds of {MAX_DRAFT_BYTES // 1_000_000} MB in "
                    "all. Download it, and begin another."
                )
            self.items = items

    def clear(self) -> None:
        """Forget the items of the draft."""
        self.items.clear()

    def write(self, folder: Path) -> None:
        """Write a folder for each system, one for recorded sources as references, the test's YAML,
        and a line of JSON for each sound with its settings.
        """
        lines = []
        for (system, stimulus), item in self.items.items():
            write_file, ending = (write, "mp4") if item.video else (_write_sound, "wav")
            file, source = f"{_folder_name(system)}/{stimulus}.{ending}", item.source
            write_file(folder / file, item.sound)
            if isinstance(source, bytes):
                reference = f"{REFERENCE}/{stimulus}.{ending}"
                write_file(folder / reference, source)
                source = reference
            note = {"file": file, "source": source, "system": system, "settings": item.settings}
            lines.append(json.dumps(note, ensure_ascii=False) + "\n")
        (folder / NOTES).write_text("".join(lines), encoding="utf-8")
        design = "ab" if len({system for system, _ in self.items}) > 1 else "acr"
        (folder / FILE).write_text(describe(folder, Form(design)), encoding="utf-8")


def _folder_name(system: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", system).strip("-")


def _write_sound(path: Path, sound: bytes) -> None:
    """Write the sound as a mono WAV file; one that is WAV is ours, and keeps its signature."""
    if sound.startswith(b"RIFF"):
        write(path, sound)
        return
    # Late, for they load scipy.
    from earshot.media.audio.load import decode_mono, wav_bytes

    recording = decode_mono(sound, MAX_SECONDS)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(wav_bytes(recording.waveform, recording.sample_rate))
