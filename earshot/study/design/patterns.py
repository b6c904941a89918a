"""Which files of a test's folder a text of its YAML names."""

import glob
from pathlib import Path, PurePosixPath

from earshot.study.design.yaml_lines import Value


def inside(folder: Path, value: Value, name: str) -> Path:
    """The path that is written there, if it stays in the folder: else the problem is noted.

    Whoever writes a test, or sends one in, gets no other files of this machine to hear.
    """
    text = value.be(str, name)
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not text:
        value.problem(f'"{text}" must be a path within the folder of this file.')
        return folder
    return folder / path


class Pattern:
    """A path with one * that stands for the stimulus: stimuli are those of the files that fit."""

    def __init__(self, folder: Path, value: Value, name: str) -> None:
        self.text = str(inside(folder, value, name))
        self.stimuli: list[str] = []
        if self.text.count("*") != 1:
            value.problem(f'"{name}" needs one * for the stimulus, as in {name}/*.wav.')
            return
        start, end = self.text.split("*")
        self.stimuli = sorted(
            found[len(start) : len(found) - len(end)]
            for found in glob.glob(f"{glob.escape(start)}*{glob.escape(end)}")
            if Path(found).is_file()
        )
        if not self.stimuli:
            value.problem(f"no file fits {value.content}.")

    def path(self, stimulus: str) -> Path:
        """The file of the stimulus, whether it is there or not."""
        return Path(self.text.replace("*", stimulus))
