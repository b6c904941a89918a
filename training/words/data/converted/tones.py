"""Recorded Mandarin words with other tones than they were said with, by voice conversion.

No two of the words that people recorded differ in their tones alone, so that a network need not
hear tones to tell them apart. These words do.

Shapes: T samples, S frames of 10 ms, P phonemes.
"""

from pathlib import Path
from typing import Final

import numpy as np

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import HOP_LENGTH
from earshot.media.text.phonemes import TONES, from_pinyin
from earshot.systems.voice_conversion.intonation import FRAMES_PER_STEP, Intonation
from training.common.zero_shot import is_zero_shot
from training.words.data.columns import Columns
from training.words.data.converted.voices import Converter
from training.words.data.lexicon import sandhi
from training.words.data.recordings import is_trained_on, load_recordings, word_items

SEED: Final = 0
ATTEMPTS: Final = 4  # to draw other tones for a recording
# Pitch at the beginning, in the middle and at the end of a tone, on Chao's scale from 1 to 5.
CHAO: Final = {
    "1": (4.7, 4.7, 4.5),
    "2": (3.0, 3.2, 4.8),
    "3": (2.2, 1.0, 1.3),
    "4": (5.0, 3.8, 1.5),
}
LAST_THIRD: Final = (2.2, 1.0, 2.8)  # the third tone rises at the end of a word only
DEVIATION: Final = 1.4  # steps of this scale in a standard deviation of a speaker's log-F0
VARIED: Final = 0.4  # standard deviation of such a pitch from word to word
GLIDE: Final = 9  # frames in which one tone goes over into the next


def write_tone_changed(data: Path, starts: np.ndarray, path: Path) -> None:
    """Write recorded Mandarin words that are trained on, each with tones drawn for it up to
    ATTEMPTS times, in other voices.

    starts (N, P): where the phonemes of all recordings begin; those that are trained on come first.
    """
    rng = np.random.default_rng(SEED)
    columns = Columns()
    converter = Converter(data, CHECKPOINTS / "any-voice")
    items = [item for item in word_items(data) if is_trained_on(item)]
    for number, word in enumerate(load_recordings(items)):
        if word.item.language != "zh" or not starts[number].any():
            continue
        speech = np.pad(word.waveform, (0, -len(word.waveform) % (FRAMES_PER_STEP * HOP_LENGTH)))
        for _ in range(ATTEMPTS):
            if toned := other_tones(word.item.phones.split(), rng):
                intonation = intonation_of(speech, toned, starts[number], rng)
                frames = converter.say(speech, intonation, converter.any_of(rng))
                columns.append(frames, from_pinyin(" ".join(toned)), "", "zh")
    columns.write(path)


def other_tones(syllables: list[str], rng: np.random.Generator) -> list[str]:
    """Draw syllables in pinyin with at least one other tone; none where that is a zero-shot word,
    or a third tone comes before another, which would be said as a second one.
    """
    toned = [syllable[:-1] + str(rng.choice(list(CHAO))) for syllable in syllables]
    held_out = is_zero_shot("zh", "", from_pinyin(" ".join(toned)))
    return [] if toned == syllables or sandhi(toned) or held_out else toned


def intonation_of(
    speech: np.ndarray, syllables: list[str], starts: np.ndarray, rng: np.random.Generator
) -> Intonation:
    """Compute the voicing of a word (T,), with the tones of these syllables instead of its own.

    starts (P,): the frame at which each of its phonemes begins.
    """
    voiced = track_pitch(speech) > 0
    pitch = np.zeros(len(voiced))
    first = 0
    for number, syllable in enumerate(syllables):
        phonemes = from_pinyin(syllable)
        vowel = next(i for i, phoneme in enumerate(phonemes) if phoneme in TONES)
        begin, first = int(starts[first + vowel]), first + len(phonemes)
        last = number + 1 == len(syllables)
        end = len(voiced) if last else int(starts[first])
        points = LAST_THIRD if last and syllable[-1] == "3" else CHAO[syllable[-1]]
        places = np.linspace(begin, max(end, begin + 1), len(points))
        begin = begin if number else 0
        varied = np.array(points) + rng.normal(0, VARIED, len(points))
        pitch[begin:] = np.interp(np.arange(begin, len(pitch)), places, varied)
    smooth = np.ones(GLIDE) / GLIDE
    pitch = np.convolve(np.pad(pitch, GLIDE // 2, mode="edge"), smooth, mode="valid")
    relative = ((pitch - 3) / DEVIATION).reshape(-1, FRAMES_PER_STEP).mean(axis=1)
    spoken = np.asarray(voiced.reshape(-1, FRAMES_PER_STEP).any(axis=1))
    return Intonation(spoken, relative.astype(np.float32))
