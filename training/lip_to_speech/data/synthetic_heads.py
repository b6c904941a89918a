"""Sentences that painted talkers say in training, beside the real ones.

The app's examples and the camera of its tests are painted talkers too; what they say there is not
among these.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from media.text.grammar import GRID, grid_phones
from synthetic.heads.__main__ import SENTENCES
from synthetic.heads.film import Film, render
from synthetic.heads.speech import align, speak
from synthetic.heads.talker import TALKERS, Talker

EACH: Final = 40  # sentences by each talker


@dataclass(frozen=True)
class Line:
    """A sentence, and who says it; the seed moves the head."""

    talker: Talker
    sentence: str
    seed: int

    def film(self) -> Film:
        return render(self.talker, self.sentence, self.seed)

    def words(self) -> list[tuple[str, float, float]]:
        """Each word, its start and its end in seconds."""
        phones = iter(align(speak(self.talker, self.sentence), self.sentence))
        spoken = []
        for word, names in zip(self.sentence.split(), grid_phones(self.sentence), strict=True):
            said = [next(phones) for _ in names.split()]
            spoken.append((word, said[0].start, said[-1].end))
        return spoken


def lines() -> list[Line]:
    """EACH sentences by each talker, seeded, none of them an example of the app."""
    rng = np.random.default_rng(0)
    slots = [list(slot) for slot in GRID]
    drawn: list[Line] = []
    while len(drawn) < EACH * len(TALKERS):
        sentence = " ".join(slot[rng.integers(len(slot))] for slot in slots)
        if sentence not in SENTENCES.values():
            drawn.append(Line(TALKERS[len(drawn) % len(TALKERS)], sentence, 100 + len(drawn)))
    return drawn
