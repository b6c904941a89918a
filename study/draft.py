"""A draft of a test: sounds that somebody chose one by one, each with its source and settings."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from media.audio import wav_bytes
from media.decode import decode
from media.errors import InputError
from study.design import REFERENCE
from study.folder import describe
from study.spec import FILE

MOST: Final = 60  # sounds in a draft
SECONDS: Final = 60.0  # that a sound may last
NOTES: Final = "sounds.jsonl"


@dataclass(frozen=True)
class Take:
    """A sound for a test: system is what made it, from `source` with these settings. Sounds of the
    same source are one stimulus; sound and source are files, and source may be missing."""

    system: str
    sound: bytes
    source: bytes
    settings: Mapping[str, Any]

    @property
    def stimulus(self) -> str:
        """What the sounds from one source are called."""
        return hashlib.sha256(self.source).hexdigest()[:8]


@dataclass
class Draft:
    """One visitor's, and nobody else's."""

    takes: dict[tuple[str, str], Take] = field(default_factory=dict)

    def add(self, take: Take) -> None:
        """Takes it in; another of the same system and source gives way."""
        if len(self.takes) >= MOST:
            raise InputError(f"A draft holds {MOST} sounds. Download it, and begin another.")
        self.takes[take.system, take.stimulus] = take

    def clear(self) -> None:
        """Forgets everything."""
        self.takes.clear()

    def write(self, folder: Path) -> None:
        """A folder for each system, one for the sources as references, the test's YAML, and a line
        of JSON for each sound with its settings."""
        lines = []
        for (system, stimulus), take in self.takes.items():
            path = folder / _name(system) / f"{stimulus}.wav"
            reference = folder / REFERENCE / path.name
            for file, sound in ((path, take.sound), (reference, take.source)):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(_wav(sound))
            note = {
                "file": path.relative_to(folder).as_posix(),
                "source": reference.relative_to(folder).as_posix(),
                "system": system,
                "settings": take.settings,
            }
            lines.append(json.dumps(note, ensure_ascii=False) + "\n")
        (folder / NOTES).write_text("".join(lines), encoding="utf-8")
        design = "ab" if len({system for system, _ in self.takes}) > 1 else "acr"
        (folder / FILE).write_text(describe(folder, design), encoding="utf-8")


def _name(system: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", system).strip("-")


def _wav(sound: bytes) -> bytes:
    blocks, rate, _ = decode(sound, SECONDS)
    return wav_bytes(np.concatenate([block.mean(axis=0) for block in blocks]), rate)
