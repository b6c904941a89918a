"""Forced alignment of recorded words in any language with pocketsphinx' English acoustic model.

Alignment only needs the segment most like each phoneme in turn, so the most similar English phone
stands in for each phoneme.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.media.text.phonemes import ARPABET, TONES
from training.judges.sphinx import Sphinx
from training.words.data.recordings import RecordedWord

CLOSEST_PHONE: Final = {ipa: phone for phone, ipa in ARPABET.items()} | {
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
    """An aligner of words of a vocabulary that is given in advance."""

    def __init__(self, words: Iterable[Sequence[str]]) -> None:
        pronunciations = {_phones(word) for word in words}
        self._sphinx = Sphinx((phones, phones) for phones in pronunciations)

    def starts(self, word: RecordedWord) -> list[int]:
        """Find the frame (10 ms) at which each phoneme begins; a tone begins with its vowel. Empty
        where the alignment fails.
        """
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
    return " ".join(CLOSEST_PHONE[phoneme] for phoneme in phonemes if phoneme not in TONES)
