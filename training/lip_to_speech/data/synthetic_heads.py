"""Sentences of the synthetic heads in the training set.

The app's examples and the camera of its tests show the same heads, with other sentences, and heads
that are not in the training set.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from earshot.media.text.grammar import GRID, grid_phones
from synthetic.heads.__main__ import SENTENCES, unseen_sentences
from synthetic.heads.speaker import SPEAKERS, Speaker
from synthetic.heads.speech import align, speak
from synthetic.heads.video import RenderedVideo, render

EACH: Final = 40  # sentences by each speaker


@dataclass(frozen=True)
class Line:
    """A sentence and its speaker; seed: of the head movement."""

    speaker: Speaker
    sentence: str
    seed: int

    def video(self) -> RenderedVideo:
        return render(self.speaker, self.sentence, self.seed)

    def words(self) -> list[tuple[str, float, float]]:
        """Time each word: its start and its end in seconds."""
        phones = iter(align(speak(self.speaker, self.sentence), self.sentence))
        spoken = []
        for word, names in zip(self.sentence.split(), grid_phones(self.sentence), strict=True):
            word_phones = [next(phones) for _ in names.split()]
            spoken.append((word, word_phones[0].start, word_phones[-1].end))
        return spoken


def lines() -> list[Line]:
    """Draw EACH seeded sentences per speaker, none of them an example of the app."""
    rng = np.random.default_rng(0)
    slots = [list(slot) for slot in GRID]
    examples = {*SENTENCES.values(), *unseen_sentences().values()}
    sampled: list[Line] = []
    while len(sampled) < EACH * len(SPEAKERS):
        sentence = " ".join(slot[rng.integers(len(slot))] for slot in slots)
        if sentence not in examples:
            number = len(sampled)
            sampled.append(Line(SPEAKERS[number % len(SPEAKERS)], sentence, 100 + number))
    return sampled
