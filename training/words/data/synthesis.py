"""Speech synthesis of words with espeak-ng and flite, at varied speeds and pitches."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from tempfile import NamedTemporaryFile
from typing import Final
from wave import Wave_read

import numpy as np
import soxr
from rapidfuzz.distance import Levenshtein

from earshot.core.errors import InputError
from earshot.media.audio.load import match_loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.phonemes import from_ipa
from training.common.corpora import LEVEL
from training.words.data.lexicon import Word

ESPEAK: Final = {
    "en": "en-us en-us en-us en-gb en-gb-x-rp en-gb-scotland en-029".split(),
    "zh": ["cmn-latn-pinyin"],
    "ar": ["ar"],
}
VARIANTS: Final = (
    "m1 m2 m3 m4 m5 m6 m7 m8 f1 f2 f3 f4 f5 klatt klatt2 klatt3 klatt4 adam Alex Andy belinda "
    "caleb Diogo Gene Hugo iven Jacky Lee Linda marcelo Michael michel paul quincy rob robert "
    "sandro steph travis victor Storm anika david"
).split()
FLITE: Final = ("slt", "awb", "rms", "kal16")
FLITE_SHARE: Final = 0.45  # of English: its voices were recorded, not formant-synthesised
QUIET: Final = 10 ** (-42 / 20)  # of the peak: anything softer around a word is trimmed
MARGIN: Final = 0.03  # seconds kept around it


@dataclass(frozen=True)
class Rendition:
    """A word in one voice. voice: the command line: program, its voice, speed and pitch."""

    word: Word
    voice: tuple[str, ...]


def rendition(word: Word, rng: np.random.Generator) -> Rendition:
    """Draw a voice, speed and pitch for a word."""
    if word.language == "en" and rng.random() < FLITE_SHARE:
        stretch = f"duration_stretch={rng.uniform(0.8, 1.8):.2f}"
        pitch = f"int_f0_target_mean={rng.uniform(85, 220):.0f}"
        name = str(rng.choice(FLITE))
        return Rendition(word, ("flite", "-voice", name, "--setf", stretch, "--setf", pitch))
    name = f"{rng.choice(ESPEAK[word.language])}+{rng.choice(VARIANTS)}"
    speed, pitch = str(rng.integers(80, 200)), str(rng.integers(15, 85))
    return Rendition(word, ("espeak-ng", "-v", name, "-s", speed, "-p", pitch))


def speak(rendition: Rendition) -> np.ndarray:
    """Synthesise the waveform (T,) at 16 kHz, trimmed to the word, at LEVEL."""
    program, *options = rendition.voice
    with NamedTemporaryFile(suffix=".wav") as file:
        text = rendition.word.text
        output = ["-t", text, "-o", file.name] if program == "flite" else ["-w", file.name, text]
        subprocess.run([program, *options, *output], check=True)
        waveform, rate = _read(file.read())
    loud = np.flatnonzero(np.abs(waveform) > QUIET * np.abs(waveform).max())
    margin = round(MARGIN * rate)
    waveform = waveform[max(loud[0] - margin, 0) : loud[-1] + margin]
    return match_loudness(soxr.resample(waveform, rate, SAMPLE_RATE), SAMPLE_RATE, LEVEL)


def consistent_with_voice(
    spellings: Sequence[tuple[str, list[tuple[str, ...]]]], tolerance: int = 1
) -> list[Word]:
    """List the English words that espeak-ng pronounces as the dictionary does, up to an edit
    distance of ``tolerance``, each with the dictionary's closest pronunciation.
    """
    text = "".join(f"{spelling}.\n\n" for spelling, _ in spellings)
    lines = subprocess.run(
        ["espeak-ng", "-q", "--ipa", "-v", "en-us"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    transcriptions = [line.strip() for line in lines if line.strip()]
    words = []
    for (spelling, pronunciations), ipa in zip(spellings, transcriptions, strict=True):
        try:
            # espeak-ng marks length, and its ᵻ lies between ɪ and ə.
            spoken = from_ipa(ipa.replace("ː", "").replace("ᵻ", "ɪ"))
        except InputError:
            continue
        nearest = min(pronunciations, key=lambda p: Levenshtein.distance(p, spoken))
        if Levenshtein.distance(nearest, spoken) <= tolerance:
            words.append(Word("en", spelling, nearest))
    return words


def _read(data: bytes) -> tuple[np.ndarray, int]:
    with Wave_read(BytesIO(data)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
        return samples.astype(np.float32) / 32768, file.getframerate()
