"""python -m synthetic.heads: the example films, a sentence by each talker, and their list.

Needs espeak-ng (Debian: apt-get install espeak-ng).
"""

import csv
from typing import Final

from synthetic.heads import HEADS
from synthetic.heads.film import render, write
from synthetic.heads.talker import TALKERS

SENTENCES: Final = {
    "ada": "bin blue at f two now",
    "kofi": "place green by o nine please",
    "noor": "set white with m four soon",
}
COLUMNS: Final = ("file", "talker", "voice", "sentence", "licence")


def main() -> None:
    """Write assets/heads."""
    HEADS.mkdir(exist_ok=True)
    rows = []
    for seed, talker in enumerate(TALKERS):
        name, sentence = f"{talker.name}.mp4", SENTENCES[talker.name]
        write(HEADS / name, render(talker, sentence, seed))
        rows.append([name, talker.name, f"espeak-ng {talker.voice}", sentence, "CC0-1.0"])
    with open(HEADS / "heads.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
