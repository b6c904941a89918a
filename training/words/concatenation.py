"""New words in recorded voices: the beginning of one recorded word concatenated with the end of
another by the same speaker, cut at aligned phoneme boundaries.

The corpora hold only about a hundred words, which a network can memorise instead of learning
phonemes. Concatenation yields thousands.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from earshot.media.text.phonemes import PHONEMES, TONES, numbers
from training.common.zero_shot import PARSERS, zero_shot

VOWELS: Final = frozenset(
    number
    for number, phoneme in enumerate(PHONEMES)
    if phoneme and phoneme[0] in "ɑæəɔaɛɝeɪioʊuɤyɨ"
)
TONE_NUMBERS: Final = frozenset(numbers(TONES))
MIN_PHONEMES, MAX_PHONEMES = 2, 14  # phonemes
ATTEMPTS: Final = 50

Word = tuple[int, ...]  # phoneme numbers

HELD_OUT: Final[frozenset[Word]] = frozenset(
    tuple(numbers(phonemes)) for language in PARSERS for phonemes in zero_shot(language)
)
# Words by which it was chosen how well unrecorded words are embedded.
DEVELOPMENT: Final = frozenset(
    tuple(numbers(PARSERS[language](phones)))
    for language, words in {
        "en": ("P R IH N T", "P R AA S EH S", "S EH V AH N", "F AY V", "K AE T"),
        "ar": ("taħriːk", "ʔasfal", "sˤifr", "jamiːn", "xalf"),
        "zh": ("shang4 hai3", "shi2 bie2"),
    }.items()
    for phones in words
)


@dataclass(frozen=True)
class Utterance:
    """A recording of a word. number: its row in the arrays of the run."""

    number: int
    word: Word
    speaker: str
    language: int


@dataclass(frozen=True)
class Concatenation:
    """The recording ``first`` up to the frame ``end``, then ``second`` from the frame ``start``."""

    first: int
    end: int
    second: int
    start: int


class Concatenations:
    """A source of words that nobody recorded, and of utterances that they can be put together
    from.
    """

    def __init__(
        self, utterances: Iterable[Utterance], starts: np.ndarray, excluded: Collection[Word]
    ) -> None:
        """Index the recordings. starts (N, P): the frame at which each phoneme of recording N
        begins, all 0 where the alignment failed; excluded: words that must not be drawn, in
        addition to the zero-shot words.
        """
        self._starts = starts
        self._excluded = {*excluded, *HELD_OUT}
        by_language: dict[int, dict[Word, dict[str, list[int]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(list))
        )
        for u in utterances:
            if starts[u.number].any():
                by_language[u.language][u.word][u.speaker].append(u.number)
        self._recordings: list[Mapping[Word, Mapping[str, list[int]]]] = [*by_language.values()]
        self._words = [list(recordings) for recordings in self._recordings]

    def draw(self, count: int, rng: np.random.Generator) -> tuple[Word, list[Concatenation]]:
        """Draw a word and ``count`` ways to put it together, by different speakers where possible.

        Raises LookupError where no two recorded words can be concatenated.
        """
        for _ in range(ATTEMPTS if self._recordings else 0):
            language = int(rng.integers(len(self._recordings)))
            words, recordings = self._words[language], self._recordings[language]
            first, second = (words[rng.integers(len(words))] for _ in range(2))
            speakers = sorted(set(recordings[first]) & set(recordings[second]))
            joints = joints_of(first, second)
            if not speakers or not joints:
                continue
            i, j = joints[rng.integers(len(joints))]
            word = first[:i] + second[j:]
            if word in self._excluded or not MIN_PHONEMES <= len(word) <= MAX_PHONEMES:
                continue
            drawn: list[Concatenation] = []
            for speaker in rng.choice(speakers, count, replace=len(speakers) < count):
                a, b = (recordings[w][str(speaker)] for w in (first, second))
                one, other = a[rng.integers(len(a))], b[rng.integers(len(b))]
                end, start = int(self._starts[one, i]), int(self._starts[other, j])
                drawn.append(Concatenation(one, end, other, start))
            return word, drawn
        raise LookupError("No two recorded words can be concatenated.")


def joints_of(first: Word, second: Word) -> list[tuple[int, int]]:
    """Find where two words can be joined: i and j of ``first[:i] + second[j:]``."""
    return [
        (i, j)
        for i in range(1, len(first))
        for j in range(1, len(second))
        if _can_join(first, i, second, j)
    ]


def _can_join(first: Word, i: int, second: Word, j: int) -> bool:
    """Say whether the phonemes on either side of both cuts are of the same kind, so that the parts
    fit; never between a vowel and its tone, nor between two vowels.
    """
    before, after = _kind(first[i - 1]), _kind(first[i])
    fits = before == _kind(second[j - 1]) and after == _kind(second[j])
    return fits and after != "tone" and (before, after) != ("vowel", "vowel")


def _kind(number: int) -> str:
    return "tone" if number in TONE_NUMBERS else "vowel" if number in VOWELS else "consonant"
