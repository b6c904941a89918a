"""A text to read, new each time, and a check that a recording is of a person who reads just that.

The owner of a voice must be there to read words that nobody could have recorded beforehand: no
voice is taken from a recording of another person. A recogniser that has the text, but not the
words drawn for its slots, must find these words; it takes speech about anything for the text, so
another, that knows no text, must find the text too.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise
from random import Random
from typing import Final

import numpy as np
import pocketsphinx
from rapidfuzz.distance import Levenshtein

from earshot.core.errors import InputError
from earshot.core.loading import once
from earshot.media.audio.load import to_int16
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.recogniser import Transcriber

OPENING: Final = "i lend my voice to earshot for this visit only"
LINES: Final = (
    "the {colour} {animal} {verb} {preposition} the {place} at {number} o'clock",
    "{number} {colour} boats came back to the {place} before {weekday} evening",
    "my {relative} saw a {animal} near the {place} on {weekday} morning",
    "nobody told the {animal} that the {colour} {place} was closed on {weekday}",
)
SLOTS: Final = {
    "animal": "horse rabbit spider monkey turtle pigeon tiger donkey".split(),
    "colour": "red blue green yellow purple orange silver brown".split(),
    "number": "two three four five six seven eight nine".split(),
    "place": "river garden mountain harbor village market station forest".split(),
    "preposition": "over across around behind beyond".split(),
    "relative": "sister brother mother father uncle teacher neighbor doctor".split(),
    "verb": "walked jumped wandered hurried climbed travelled".split(),
    "weekday": "monday tuesday wednesday thursday friday saturday sunday".split(),
}
N_LINES: Final = 3
MIN_RIGHT: Final = 2 / 3  # share of the slots; guessing finds one in seven
# What the other recogniser may miss (benchmarks/own_voice.md): of the words of the text, and of
# each of its lines.
MAX_ERRORS: Final = 0.5
MAX_LOST: Final = 1 / 2
# As it writes them.
NUMBERS: Final[dict[str, str]] = dict(zip("23456789", SLOTS["number"], strict=True))
MARGIN: Final = 1600  # samples of silence around a recording, for the pauses that sphinx expects
# Wider than usual, for the recogniser has the text; the last bounds the time.
BEAMS: Final = {"beam": 1e-90, "wbeam": 1e-70, "pbeam": 1e-90, "maxhmmpf": 2000}


@dataclass(frozen=True)
class Reading:
    """A text with slots, and the words drawn for them in order."""

    lines: tuple[str, ...]
    words: tuple[str, ...]

    @classmethod
    def draw(cls, random: Random) -> "Reading":
        """Draw the opening, and some of the lines with words for their slots."""
        lines = (OPENING, *random.sample(LINES, N_LINES))
        slots = [slot for line in lines for slot in _slots(line)]
        return cls(lines, tuple(random.choice(SLOTS[slot]) for slot in slots))

    @property
    def spoken(self) -> list[str]:
        """Return the lines with their words."""
        drawn = iter(self.words)
        return [re.sub(r"\{\w+\}", lambda _: next(drawn), line) for line in self.lines]

    @property
    def text(self) -> str:
        """Write the text with its words, capitals and full stops."""
        spoken = self.spoken
        names = {"i": "I", "earshot": "Earshot", **{d: d.title() for d in SLOTS["weekday"]}}
        written = [" ".join(names.get(word, word) for word in line.split()) for line in spoken]
        return " ".join(f"{line[0].upper()}{line[1:]}." for line in written)

    def check(self, waveform: np.ndarray) -> None:
        """Raise InputError unless the waveform (T,) at 16 kHz is of a person who reads the text."""
        words = _recognise(self.lines, waveform)
        right = sum(a == b for a, b in zip(words, self.words, strict=False))
        whole = right >= MIN_RIGHT * len(self.words)
        if not (whole and agrees(self.spoken, _transcriber()((SAMPLE_RATE, waveform)).text)):
            raise InputError(
                "That did not sound like the text.",
                "Record again: read just these words, at your usual pace, close to the microphone, "
                "where it is quiet.",
            )


def _recognise(lines: Sequence[str], waveform: np.ndarray) -> list[str]:
    """Recognise the words in the slots, as far as the text was read."""
    rule = " ".join(re.sub(r"\{(\w+)\}", r"<\1>", line) for line in lines)
    rules = "".join(f" <{slot}> = {' | '.join(words)};" for slot, words in SLOTS.items())
    decoder = pocketsphinx.Decoder(
        samprate=SAMPLE_RATE,
        loglevel="FATAL",
        lm=None,
        dither=True,  # digital silence confuses it
        **BEAMS,
    )
    decoder.add_jsgf_string("reading", f"#JSGF V1.0; grammar g; public <text> = {rule};{rules}")
    decoder.activate_search("reading")
    decoder.start_utt()
    decoder.process_raw(np.pad(to_int16(waveform), MARGIN).tobytes(), full_utt=True)
    decoder.end_utt()
    best = decoder.hyp()
    words = best.hypstr.split() if best else []
    template = [word for line in lines for word in line.split()]
    return [word for word, slot in zip(words, template, strict=False) if slot.startswith("{")]


def agrees(lines: Sequence[str], transcript: str) -> bool:
    """Whether what a recogniser wrote down without knowing the lines is these."""
    text = [_spellings(line) for line in lines]
    edits = Levenshtein.editops([*chain(*text)], _spellings(transcript))
    if len(edits) > MAX_ERRORS * sum(map(len, text)):
        return False
    lost = {edit.src_pos for edit in edits if edit.tag != "insert"}
    ends = [*accumulate(map(len, text), initial=0)]
    return all(
        len(lost.intersection(range(start, end))) <= MAX_LOST * (end - start)
        for start, end in pairwise(ends)
    )


def _spellings(text: str) -> list[str]:
    """Return the words of a text, spelt alike on both sides of the Atlantic."""
    words: list[str] = re.findall(r"[a-z']+|\d+", text.lower())
    return [(NUMBERS.get(word) or word).replace("our", "or").replace("ll", "l") for word in words]


_transcriber = once(partial(Transcriber.from_pretrained, device="cpu"))


def _slots(line: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", line)
