"""python -m synthetic.words speak | index | collection: make the recordings of the words, their
index, or the collection in which words are found.

`speak` and `collection` need flite and espeak-ng (Debian: apt-get install flite espeak-ng); `index`
and `collection` the trained checkpoints of the words.
"""

import argparse
import csv
import unicodedata
from concurrent.futures import ThreadPoolExecutor

from earshot.systems.words.library import COLUMNS
from synthetic.words import WORDS, spoken_words
from synthetic.words.voices import speak, voices, write


def record() -> None:
    """Write assets/words: one file for each word and voice, and words.csv."""
    WORDS.mkdir(exist_ok=True)
    renditions = [
        (f"{file_name(word.spelling)}-{voice.replace(' ', '-')}.ogg", word, voice)
        for number, word in enumerate(spoken_words())
        for voice in voices(number, word)
    ]
    with ThreadPoolExecutor() as pool:
        for _ in pool.map(lambda each: write(WORDS / each[0], speak(*each[1:])), renditions):
            pass
    with open(WORDS / "words.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for name, word, voice in renditions:
            phonemes = " ".join(word.phonemes)
            rows.writerow([name, word.spelling, phonemes, word.language, word.gloss, voice])


def file_name(spelling: str) -> str:
    """Write the spelling in ASCII letters and digits, safe on every file system."""
    letters = spelling.translate(str.maketrans("ʃħʕʔθː", "SHAQTV"))
    plain = unicodedata.normalize("NFKD", letters).encode("ascii", "ignore").decode()
    return "".join(c if c.isalnum() else "_" for c in plain).strip("_")


def main() -> None:
    """Parse the command line and run one command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["speak", "index", "collection"])
    what = parser.parse_args().what
    if what == "speak":
        record()
    elif what == "collection":
        from synthetic.words.collection import build  # loads torch

        build()
    else:
        from synthetic.words.index import make_index  # loads torch

        make_index()


if __name__ == "__main__":
    main()
