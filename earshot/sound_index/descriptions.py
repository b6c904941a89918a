"""What is written of the sounds of a library, with which a query is compared too: captions, kinds,
tags and names of files, by the sentence encoder that embeds the query anyway.

Of the sounds that are shipped, the vectors lie in assets/descriptions.npz, which
scripts/build_search_example.py writes.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np

from earshot.core.files import replacing
from earshot.core.paths import ASSETS
from earshot.sound_index.sound import Sound

FILE: Final = ASSETS / "descriptions.npz"
MAX_SOUNDS: Final = 20_000  # of a library whose texts are compared
MAX_NEW: Final = 3_000  # texts that are embedded for a library, in some seconds on a core
# A sound matches where its words' cosine with the query, the share of the query's groups of letters
# that are in its words, and its own score come to so much: python -m benchmarks.plain_queries.
THRESHOLD: Final = 1.85
# Or, for a query of more words than those on which this was chosen, where its score alone is so
# high: a long sentence shares few groups of letters with a caption.
MAX_PLAIN_WORDS: Final = 5
CERTAIN_SCORE: Final = 0.79
RANK_WEIGHT: Final = 2.0  # of the words' cosine, in the order of results
MAX_TAG_WORDS: Final = 3  # of each part of a list, "pig, grunt, oink"
GROUP: Final = 3  # letters that are compared, so that forms of a word are alike
WORD: Final = re.compile(r"[^\W\d_]{3,}")  # without one, a name says nothing: "rec_014"
LETTERS: Final = re.compile(r"[^\W\d_]+")
Sentences = Callable[[Sequence[str]], np.ndarray]


class Descriptions:
    """The texts of a library as vectors, and the letters in them. has_words: bool (n,), of which
    sounds there are words that somebody wrote, and not a name of a file alone; vocabulary: all
    words in them; sentences: the encoder of their vectors.
    """

    def __init__(self, sounds: Sequence[Sound], sentences: Sentences) -> None:
        """Embed what is not stored: of all captions, or of the first ones; where these are more
        than MAX_NEW texts too, leave out what is new."""
        self.sentences = sentences
        rows, vectors = _stored()
        short = [replace(sound, caption=sound.first_caption) for sound in sounds]
        for variant in (sounds, short):
            texts = [(number, t) for number, sound in enumerate(variant) for t in _texts(sound)]
            new = [*dict.fromkeys(text for _, text in texts if text not in rows)]
            if len(new) <= MAX_NEW:
                break
        else:
            new = []
        if new:
            rows = rows | {text: len(rows) + number for number, text in enumerate(new)}
            vectors = np.concatenate([vectors, sentences(new).astype(np.float16)])
        usable = [(number, rows[text]) for number, text in texts if text in rows]
        self._sounds, used = np.array(usable, int).reshape(-1, 2).T
        self._vectors = vectors[used]
        self.has_words = np.array([bool(s.caption or s.kind or s.tags) for s in sounds], bool)
        self.vocabulary = {word for _, text in texts for word in _words(text)}
        holders: defaultdict[str, dict[int, None]] = defaultdict(dict)
        for number, text in texts:
            for group in _groups(text):
                holders[group][number] = None
        self._holders = {group: np.array([*numbers]) for group, numbers in holders.items()}

    def cosines(self, query: np.ndarray) -> np.ndarray:
        """Compare a unit vector with the texts: the best cosine of each sound, -1 of those without
        any: float32 (n,)."""
        best = np.full(len(self.has_words), -1.0, np.float32)
        np.maximum.at(best, self._sounds, self._vectors.astype(np.float32) @ query)
        return best

    def shares(self, text: str) -> np.ndarray:
        """Compute which share of a text's groups of letters the words of each sound have, where
        groups that few sounds have count more: float32 (n,)."""
        total, shares = 0.0, np.zeros(len(self.has_words), np.float32)
        for group in _groups(text):
            numbers = self._holders.get(group, np.zeros(0, int))
            weight = float(np.log(1 + len(shares) / max(len(numbers), 1)))
            shares[numbers] += weight
            total += weight
        return shares / max(total, 1e-9)


def write(sounds: Sequence[Sound], sentences: Sentences) -> None:
    """Write the vectors of all texts of the sounds that are shipped."""
    texts = sorted({text for sound in sounds for text in _texts(sound)})
    with replacing(FILE) as file:
        np.savez_compressed(
            file, texts=np.array(texts), vectors=sentences(texts).astype(np.float16)
        )


def _texts(sound: Sound) -> Iterator[str]:
    """List what is written of a sound: its captions, those that are lists part by part, its kind,
    tags, and name."""
    stem = sound.name.rpartition(".")[0] or sound.name
    for text in (*sound.caption.split("|"), sound.kind, *sound.tags, stem):
        words = re.sub(r"[-_.]+", " ", text).strip()
        parts = [part.strip() for part in words.split(",")]
        is_list = all(len(part.split()) <= MAX_TAG_WORDS for part in parts)
        for part in parts if is_list else [words]:
            if WORD.search(part):
                yield part


def _words(text: str) -> list[str]:
    return LETTERS.findall(text.casefold())


def _groups(text: str) -> set[str]:
    """List the groups of GROUP letters in the words of a text, which begin and end with a space."""
    spaced = (f" {word} " for word in _words(text))
    return {
        word[start : start + GROUP]
        for word in spaced
        for start in range(max(1, len(word) - GROUP + 1))
    }


@cache
def _stored() -> tuple[dict[str, int], np.ndarray]:
    """Read the rows of the texts that are stored, and their vectors, float16 (n, width)."""
    with np.load(FILE) as file:
        return {str(text): row for row, text in enumerate(file["texts"])}, file["vectors"]
