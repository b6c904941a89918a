"""python -m synthetic.heads [NAME …]: the example videos, one of each speaker, and their list.

Without names, all of them are rendered (about half a minute of CPU each). Needs espeak-ng
(Debian: apt-get install espeak-ng).
"""

import argparse
import csv
from typing import Final

import numpy as np

from earshot.media.text.grammar import GRID
from synthetic.heads import HEADS
from synthetic.heads.speaker import SPEAKERS, UNSEEN_SPEAKERS, Speaker
from synthetic.heads.video import render, write

SENTENCES: Final = {
    "ada": "bin blue at f two now",
    "kofi": "place green by o nine please",
    "noor": "set white with m four soon",
}
SEED: Final = 17  # of the sentences of UNSEEN_SPEAKERS, drawn once, before any was read
COLUMNS: Final = ("file", "speaker", "in_training", "voice", "sentence", "licence")


def unseen_sentences() -> dict[str, str]:
    """Draw a sentence of the grammar for each of UNSEEN_SPEAKERS, seeded."""
    rng = np.random.default_rng(SEED)
    slots = [list(slot) for slot in GRID]
    return {
        speaker.name: " ".join(slot[rng.integers(len(slot))] for slot in slots)
        for speaker in UNSEEN_SPEAKERS
    }


def main() -> None:
    """Write assets/heads."""
    speakers: tuple[Speaker, ...] = (*SPEAKERS, *UNSEEN_SPEAKERS)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="speakers to render, all by default")
    names = parser.parse_args().names or [speaker.name for speaker in speakers]
    HEADS.mkdir(exist_ok=True)
    sentences = SENTENCES | unseen_sentences()
    rows = []
    for seed, speaker in enumerate(speakers):
        name, sentence = f"{speaker.name}.mp4", sentences[speaker.name]
        if speaker.name in names:
            write(HEADS / name, render(speaker, sentence, seed))
        seen = "yes" if speaker in SPEAKERS else "no"
        voice = f"espeak-ng {speaker.voice}"
        rows.append([name, speaker.name, seen, voice, sentence, "CC0-1.0"])
    with open(HEADS / "heads.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
