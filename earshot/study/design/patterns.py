"""Patterns: the files of a test's folder that a text of its YAML names.

Names are compared in Unicode's composed form (NFC), for macOS and some archives write the same name
in parts (NFD).
"""

import unicodedata
from pathlib import Path, PurePosixPath

from earshot.study.design.yaml_lines import Value


def inside(folder: Path, value: Value, name: str) -> Path:
    """Find the path that is written there, if it stays in the folder: else note the problem.

    Whoever writes a test, or sends one in, gets no other files of this machine to hear.
    """
    text = value.be(str, name)
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not text:
        value.problem(f'"{text}" must be a path within the folder of this file.')
        return folder
    return on_disk(folder, path)


def on_disk(folder: Path, path: PurePosixPath) -> Path:
    """Find the path below the folder as the disk spells it; as given where it is not there."""
    for part in path.parts:
        if not part.isascii() and folder.is_dir() and not (folder / part).exists():
            alike = (
                each.name for each in folder.iterdir() if composed(each.name) == composed(part)
            )
            part = next(alike, part)
        folder /= part
    return folder


def composed(name: str) -> str:
    """Write the name in NFC."""
    return unicodedata.normalize("NFC", name)


class Pattern:
    """A path with one * that stands for the stimulus: stimuli are those of the files that fit.

    The ending of a file may be in capitals or not: x.WAV fits *.wav.
    """

    def __init__(self, folder: Path, value: Value, name: str) -> None:
        self.text = str(inside(folder, value, name))
        self._files: dict[str, Path] = {}
        if self.text.count("*") != 1:
            value.problem(f'"{name}" needs one * for the stimulus, as in {name}/*.wav.')
            return
        path = Path(self.text)
        starred = next(part for part in path.parts if "*" in part)
        above, *below = self.text.split(starred)
        rest = PurePosixPath(below[0].lstrip("/")) if below[0] else None
        for entry in sorted(Path(above).iterdir()) if Path(above).is_dir() else []:
            file = on_disk(entry, rest) if rest else entry
            stimulus = _stimulus(composed(entry.name), composed(starred))
            if stimulus is not None and file.is_file():
                exact = entry.name.endswith(starred.split("*")[1])
                if exact or stimulus not in self._files:
                    self._files[stimulus] = file
        if not self._files:
            value.problem(f"no file fits {value.content}.")

    @property
    def stimuli(self) -> list[str]:
        """List the stimuli, in the order of their names."""
        return sorted(self._files)

    def path(self, stimulus: str) -> Path:
        """Find the file of the stimulus, whether it is there or not."""
        return self._files.get(stimulus) or Path(self.text.replace("*", stimulus))


def _stimulus(name: str, pattern: str) -> str | None:
    """Find what the * of the pattern stands for in a name; None where the name does not fit."""
    start, end = pattern.split("*")
    base, dot, ending = end.rpartition(".")
    if dot and name.lower().endswith(f".{ending.lower()}"):
        name, end = name[: len(name) - len(ending) - 1], base
    elif dot:
        return None
    fits = name.startswith(start) and name.endswith(end) and len(name) >= len(start) + len(end)
    hidden = not start and name.startswith(".")
    return name[len(start) : len(name) - len(end)] if fits and not hidden else None
