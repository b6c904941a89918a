"""Where the phonemes of a recorded word are: pocketsphinx' English model, for all languages.

A forced alignment only asks which stretch is most like each phoneme in turn; for that the nearest
English phone will do.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from media.audio.features import HOP_LENGTH, SAMPLE_RATE
from media.text.phonemes import ARPABET, TONES
from training.evaluators.sphinx import Sphinx
from training.words.data.recordings import Recorded

NEAREST: Final = {ipa: phone for phone, ipa in ARPABET.items()} | {
    ipa: phone
    for ipa, _, phone in (
        pair.partition(":")
        for pair in (
            "aː:AA iː:IY uː:UW a:AE r:R x:HH q:K ʔ:T ʕ:AA ħ:HH ɣ:G sˤ:S dˤ:D tˤ:T ðˤ:DH pʰ:P tʰ:T "
            "kʰ:K tɕ:JH tɕʰ:CH ɕ:SH ʈʂ:JH ʈʂʰ:CH ʂ:SH ɻ:R t͡s:Z t͡sʰ:S o:AO ɤ:AH e:EH y:IY ɨ:IH"
        ).split()
    )
}


class Aligner:
    """Knows the words that it will be given."""

    def __init__(self, words: Iterable[Sequence[str]]) -> None:
        spelt = {_phones(word) for word in words}
        self._sphinx = Sphinx((phones, phones) for phones in spelt)

    def starts(self, word: Recorded) -> list[int]:
        """The frame (10 ms) at which each phoneme begins; a tone begins where its vowel does.
        Empty where the word cannot be found in the sound."""
        phones = _phones(word.phonemes)
        segments = self._sphinx.align(word.waveform, [(phones, phones)])
        if [segment.phone for segment in segments] != phones.split():
            return []
        last = len(word.waveform) // HOP_LENGTH
        frames = iter(
            int(np.clip(round(segment.start * SAMPLE_RATE / HOP_LENGTH), 0, last))
            for segment in segments
        )
        starts: list[int] = []
        for phoneme in word.phonemes:
            starts.append(starts[-1] if phoneme in TONES else next(frames))
        return starts


def _phones(phonemes: Sequence[str]) -> str:
    return " ".join(NEAREST[phoneme] for phoneme in phonemes if phoneme not in TONES)
