"""The corpora of environmental sounds: their files, and the folds to train on."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ESC50: Final = "esc50_16k"
OUTSIDE_FOLDS: Final = 0  # the fold of sounds in no fold, which are always trained on
TRAINING_FOLDS: Final = (OUTSIDE_FOLDS, 1, 2, 3)
SAME_SOURCE: Final = re.compile(r"same freesound source as ESC-50 fold (\d)")


@dataclass(frozen=True)
class SoundFile:
    """A recording of a sound; title: what its uploader called it."""

    path: Path
    corpus: str
    label: str
    title: str
    fold: int


def manifest_of(data: Path) -> Path:
    """Name the path of the table of sounds in a data folder, which may have none."""
    return data / "sounds" / "manifest.csv"


def sound_files(data: Path) -> Iterator[SoundFile]:
    """Yield every sound of the manifest. One outside ESC-50 has the fold of its source if that is
    also in ESC-50. Raises FileNotFoundError where there is no manifest."""
    manifest = manifest_of(data)
    with manifest.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["set"] == ESC50:
                fold = int(float(row["fold"]))
            else:
                same = SAME_SOURCE.search(row.get("notes", ""))
                fold = int(same[1]) if same else OUTSIDE_FOLDS
            path = manifest.parent / row["path"]
            title = row.get("source_title", "")
            yield SoundFile(path, row["set"], row["label"], title, fold)
