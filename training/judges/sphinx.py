"""Pocketsphinx: phones of known words by forced alignment, words of a grammar by recognition."""

from collections.abc import Iterable
from dataclasses import dataclass
from tempfile import NamedTemporaryFile

import numpy as np
import pocketsphinx

from earshot.media.audio.load import to_int16
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.grammar import Grammar

FRAME = 0.01  # seconds
MARGIN = round(0.1 * SAMPLE_RATE)  # samples of silence padded on both sides, as sphinx expects

Word = tuple[str, str]  # spelling, phones


@dataclass(frozen=True)
class Segment:
    """A phone, in seconds of the recording it was found in."""

    phone: str
    start: float
    end: float


class Sphinx:
    """A decoder with pocketsphinx's own English model and the words given to it.

    A word is its spelling and its phones.
    """

    def __init__(self, words: Iterable[Word]) -> None:
        self._names = {word: f"word{number}" for number, word in enumerate(dict.fromkeys(words))}
        self._spelling = {name: word for (word, _), name in self._names.items()}
        self._searches: dict[str, str] = {}  # names, of grammar rules
        with NamedTemporaryFile("w", suffix=".dict") as dictionary:
            dictionary.writelines(f"{name} {p}\n" for (_, p), name in self._names.items())
            dictionary.flush()
            self._decoder = pocketsphinx.Decoder(
                samprate=SAMPLE_RATE,
                loglevel="FATAL",
                bestpath=False,
                lm=None,
                dict=dictionary.name,
            )

    def align(self, waveform: np.ndarray, words: Iterable[Word]) -> list[Segment]:
        """Find the phones of words (each with its pronunciation) in a waveform (T,) at 16 kHz.

        Empty when the words cannot be found in the sound.
        """
        self._decoder.set_align_text(" ".join(self._names[word] for word in words))
        self._process(waveform)
        if self._decoder.hyp() is None:
            return []
        self._decoder.set_alignment()
        self._process(waveform)
        offset = MARGIN / SAMPLE_RATE
        return [
            Segment(p.name, p.start * FRAME - offset, (p.start + p.duration) * FRAME - offset)
            for word in self._decoder.get_alignment()
            for p in word
            if p.name != "SIL"
        ]

    def words(self, waveform: np.ndarray, grammar: Grammar) -> list[str]:
        """Recognise words by a grammar of slots in sequence; [] when there are none."""
        slots = [" | ".join(self._names[word] for word in slot.items()) for slot in grammar]
        rule = " ".join(f"({slot})" for slot in slots)
        if rule not in self._searches:
            self._searches[rule] = f"grammar{len(self._searches)}"
            jsgf = f"#JSGF V1.0; grammar g; public <s> = {rule};"
            self._decoder.add_jsgf_string(self._searches[rule], jsgf)
        self._decoder.activate_search(self._searches[rule])
        self._process(waveform)
        best = self._decoder.hyp()
        return [self._spelling[name] for name in best.hypstr.split()] if best else []

    def _process(self, waveform: np.ndarray) -> None:
        samples = np.pad(to_int16(waveform), MARGIN).tobytes()
        self._decoder.start_utt()
        self._decoder.process_raw(samples, full_utt=True)
        self._decoder.end_utt()
