"""What is written of the sounds of a library, with which a query is compared too: captions, kinds,
tags and names of files, by the sentence encoder that embeds the query anyway.

Of the sounds that are shipped, the vectors lie in assets/descriptions.npz, which
scripts/build_search_example.py writes.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final

import numpy as np

from earshot.core.files import replacing
from earshot.core.paths import ASSETS
from earshot.sound_index.sound import Sound

FILE: Final = ASSETS / "descriptions.npz"
MAX_SOUNDS: Final = 20_000  # of a library whose texts are compared
MAX_NEW: Final = 3_000  # texts that are embedded for a library, in some seconds on a core
# Chosen on half of docs/sound_search.md's plain queries: a sound matches where its words' cosine
# with the query, and so much of its own score, reach the threshold, or where its score alone is
# beyond doubt.
SOUND_WEIGHT: Final = 0.3
THRESHOLD: Final = 0.82
CERTAIN_SHARE: Final = 0.79
RANK_WEIGHT: Final = 2.0  # of the words, in the order of results
WORD: Final = re.compile(r"[^\W\d_]{3,}")  # without one, a name says nothing: "rec_014"
Sentences = Callable[[Sequence[str]], np.ndarray]


class Descriptions:
    """The texts of a library as vectors. has_words: bool (n,), of which sounds there are words that
    somebody wrote, and not a name of a file alone.
    """

    def __init__(self, sounds: Sequence[Sound], sentences: Sentences) -> None:
        """Embed what is not stored; where these are more than MAX_NEW texts, leave them out."""
        texts = [(number, text) for number, sound in enumerate(sounds) for text in _texts(sound)]
        rows, vectors = _stored()
        new = [*dict.fromkeys(text for _, text in texts if text not in rows)]
        if new and len(new) <= MAX_NEW:
            rows = rows | {text: len(rows) + number for number, text in enumerate(new)}
            vectors = np.concatenate([vectors, sentences(new).astype(np.float16)])
        usable = [(number, rows[text]) for number, text in texts if text in rows]
        self._sounds, used = np.array(usable, int).reshape(-1, 2).T
        self._vectors = vectors[used]
        self.has_words = np.array([bool(s.caption or s.kind or s.tags) for s in sounds], bool)

    def cosines(self, query: np.ndarray) -> np.ndarray:
        """Compare a unit vector with the texts: the best cosine of each sound, -1 of those without
        any: float32 (n,)."""
        best = np.full(len(self.has_words), -1.0, np.float32)
        np.maximum.at(best, self._sounds, self._vectors.astype(np.float32) @ query)
        return best


def write(sounds: Sequence[Sound], sentences: Sentences) -> None:
    """Write the vectors of all texts of the sounds that are shipped."""
    texts = sorted({text for sound in sounds for text in _texts(sound)})
    with replacing(FILE) as file:
        np.savez_compressed(
            file, texts=np.array(texts), vectors=sentences(texts).astype(np.float16)
        )


def _texts(sound: Sound) -> Iterator[str]:
    """List what is written of a sound: parts of its caption, its kind, tags, and name."""
    stem = sound.name.rpartition(".")[0] or sound.name
    for text in (*sound.caption.split("|"), sound.kind, *sound.tags, stem):
        words = re.sub(r"[-_.]+", " ", text).strip()
        if WORD.search(words):
            yield words


@cache
def _stored() -> tuple[dict[str, int], np.ndarray]:
    """Read the rows of the texts that are stored, and their vectors, float16 (n, width)."""
    with np.load(FILE) as file:
        return {str(text): row for row, text in enumerate(file["texts"])}, file["vectors"]
