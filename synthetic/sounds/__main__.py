"""Make assets/sounds: one Ogg Opus file a recipe, and captions.csv.

Run as `python -m synthetic.sounds`, or with the names of families (`weather bells`) to write
only their sounds; needs espeak-ng (Debian: apt-get install espeak-ng).
"""

import csv
import sys
from pathlib import Path

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from earshot.core.paths import ASSETS
from synthetic.sounds import FAMILIES, RECIPES, SAMPLE_RATE, render

SOUNDS = ASSETS / "sounds"
SEED = 0
RATE = 48_000  # Hz, at which Opus runs
COMPRESSION = 0.88  # of libsndfile: about 36 kbit/s; Vorbis needs twice that for the highs


def write(path: Path, sound: NDArray[np.float32]) -> None:
    """Write a sound (T,) as Opus; softer, if a click in it would come back above full scale."""
    sound = soxr.resample(sound, SAMPLE_RATE, RATE)
    for gain in (1.0, 0.7):
        soundfile.write(
            path,
            gain * sound,
            RATE,
            format="OGG",
            subtype="OPUS",
            compression_level=COMPRESSION,
        )
        if np.max(np.abs(soundfile.read(path)[0])) <= 1:
            break


def main(names: list[str]) -> None:
    """Write the sounds of the wanted families (all of them where none is named) and all
    captions.
    """
    SOUNDS.mkdir(exist_ok=True)
    for family in FAMILIES:
        if not names or family.__name__.rpartition(".")[2] in names:
            for recipe in family.RECIPES:
                write(SOUNDS / f"{recipe.name}.ogg", render(recipe, SEED))
    with open(SOUNDS / "captions.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["file", "kind", "caption"])
        for recipe in sorted(RECIPES, key=lambda recipe: recipe.name):
            rows.writerow([f"{recipe.name}.ogg", recipe.kind, " | ".join(recipe.captions)])


if __name__ == "__main__":
    main(sys.argv[1:])
