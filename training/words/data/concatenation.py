"""New words in real voices: the beginning of one recorded word and the end of another.

The recordings hold some hundred words only, which a network can learn by heart instead of learning
to hear phonemes. One talker's recordings, cut at phonemes and put together anew, hold thousands.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import numpy as np

from media.text.phonemes import PHONEMES, TONES, numbers
from training.words.data.zero_shot import READERS, zero_shot

VOWELS: Final = frozenset(
    number
    for number, phoneme in enumerate(PHONEMES)
    if phoneme and phoneme[0] in "ɑæəɔaɛɝeɪioʊuɤyɨ"
)
_TONES: Final = frozenset(numbers(TONES))
SHORTEST, LONGEST = 2, 14  # phonemes
TRIES: Final = 50

Word = tuple[int, ...]
# A recording, the frame up to which it is heard, another, and the frame from which on it is.
Take = tuple[int, int, int, int]


class Splices:
    """Draws words that nobody said, and who could have said them."""

    def __init__(
        self,
        takes: Iterable[tuple[int, Word, str, int]],
        starts: np.ndarray,
        known: Collection[Word],
    ) -> None:
        """takes: number, word, speaker and language of each recording; starts (N, P): the frames
        at which the phonemes of each begin; known: words that are not to be made."""
        self._starts = starts
        self._barred = {*known, *(tuple(numbers(p)) for name in READERS for p in zero_shot(name))}
        by_language: dict[int, dict[Word, dict[str, list[int]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(list))
        )
        for number, word, speaker, language in takes:
            if starts[number].any():
                by_language[language][word][speaker].append(number)
        self._said: list[Mapping[Word, Mapping[str, list[int]]]] = list(by_language.values())
        self._words = [list(said) for said in self._said]

    def draw(self, n_takes: int, rng: np.random.Generator) -> tuple[Word, list[Take]]:
        """A word, and n_takes ways to put it together, by different speakers where it can be.

        Raises LookupError where the recordings hold nothing to put together.
        """
        for _ in range(TRIES):
            language = int(rng.integers(len(self._said)))
            words, said = self._words[language], self._said[language]
            first, second = (words[rng.integers(len(words))] for _ in range(2))
            speakers = sorted(set(said[first]) & set(said[second]))
            cuts = [
                (i, j)
                for i in range(1, len(first))
                for j in range(1, len(second))
                if _alike(first, i, second, j)
            ]
            if not speakers or not cuts:
                continue
            i, j = cuts[rng.integers(len(cuts))]
            word = first[:i] + second[j:]
            if word in self._barred or not SHORTEST <= len(word) <= LONGEST:
                continue
            takes: list[Take] = []
            for speaker in rng.choice(speakers, n_takes, replace=len(speakers) < n_takes):
                a, b = (said[w][str(speaker)] for w in (first, second))
                one, other = a[rng.integers(len(a))], b[rng.integers(len(b))]
                takes.append((one, int(self._starts[one, i]), other, int(self._starts[other, j])))
            return word, takes
        raise LookupError("No two recorded words can be put together.")


def _alike(first: Word, i: int, second: Word, j: int) -> bool:
    """Whether the sounds before and after both cuts are of one kind, so that the ends fit; never
    within a tone's syllable after its vowel, nor between two vowels."""
    before, after = _kind(first[i - 1]), _kind(first[i])
    fits = before == _kind(second[j - 1]) and after == _kind(second[j])
    return fits and after != "tone" and (before, after) != ("vowel", "vowel")


def _kind(number: int) -> str:
    return "tone" if number in _TONES else "vowel" if number in VOWELS else "consonant"
