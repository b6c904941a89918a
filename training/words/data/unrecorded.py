"""Words that nobody recorded, concatenated from recordings of validation speakers, as waveforms."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from earshot.media.constants import HOP_LENGTH
from earshot.media.text.phonemes import PHONEMES, numbers
from training.words.data.alignment import Aligner
from training.words.data.concatenation import Concatenations, Utterance
from training.words.data.recordings import RecordedWord


def unrecorded_words(
    recordings: Sequence[RecordedWord], vocabulary: Collection[tuple[str, ...]], count: int
) -> list[RecordedWord]:
    """Put together ``count`` words outside the vocabulary, each from two of the recordings; always
    the same ones. Their items are those of the first half.

    Raises LookupError where no two recordings can be concatenated.
    """
    aligner = Aligner({word.phonemes for word in recordings})
    aligned = [aligner.starts(word) for word in recordings]
    starts = np.zeros((len(aligned), max(map(len, aligned), default=0)), np.int64)
    for row, frames in zip(starts, aligned, strict=True):
        row[: len(frames)] = frames
    languages = sorted({word.item.language for word in recordings})
    utterances = [
        Utterance(
            number,
            tuple(numbers(word.phonemes)),
            str(word.item.speaker),
            languages.index(word.item.language),
        )
        for number, word in enumerate(recordings)
    ]
    concatenations = Concatenations(
        utterances, starts, {tuple(numbers(word)) for word in vocabulary}
    )
    rng = np.random.default_rng(0)
    words = []
    for _ in range(count):
        phonemes, [parts] = concatenations.draw(1, rng)
        first, second = recordings[parts.first], recordings[parts.second]
        halves = (
            first.waveform[: parts.end * HOP_LENGTH],
            second.waveform[parts.start * HOP_LENGTH :],
        )
        spelled = tuple(PHONEMES[number] for number in phonemes)
        words.append(RecordedWord(replace(first.item, text=""), np.concatenate(halves), spelled))
    return words
