"""Thousands of words each of English, Mandarin and Arabic, and their synthesis with espeak-ng and
flite, at varied speeds and pitches.

English words come from the dictionary. Mandarin words are random sequences of syllables, Arabic
words random roots in the patterns of the language: phonotactically valid, mostly pseudo-words.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise, product
from tempfile import NamedTemporaryFile
from typing import Final
from wave import Wave_read

import numpy as np
import pocketsphinx
import soxr
from rapidfuzz.distance import Levenshtein

from earshot.core.errors import InputError
from earshot.media.audio.load import match_loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.phonemes import from_arpabet, from_ipa, from_pinyin, pronunciations
from training.common.corpora import LEVEL
from training.common.zero_shot import is_zero_shot

FREQUENT: Final = 6000  # of English, by pocketsphinx' language model
RARE: Final = 4000
MAX_PHONEMES: Final = 12  # phonemes
LANGUAGE_MODEL: Final = "en-us/en-us.lm.bin"
# Initials and the finals that may follow them.
SYLLABLES: Final[Mapping[str, str]] = {
    "b p m": "a o ai ei ao an en ang eng i ie iao ian in ing u",
    "f": "a o ei ou an en ang eng u",
    "d t": "a e ai ao ou an ang eng ong i ie iao ian ing u uo ui uan un",
    "n l": "a e ai ei ao an ang eng ong i ie iao iu ian in iang ing u uo uan v ve",
    "g k h": "a e ai ei ao ou an en ang eng ong u ua uo uai ui uan un uang",
    "j q x": "i ia ie iao iu ian in iang ing iong u ue uan un",
    "zh ch sh": "a e i ai ao ou an en ang eng u uo ui uan un",
    "z c s": "a e i ai ao ou an en ang eng ong u uo ui uan un",
    "r": "e i ao ou an en ang eng ong u uo ui uan un",
    "-": "a ai an ao e en er ou yi ya ye yao you yan yin yang ying yong wu wa wo wai wei wan wen "
    "wang yu yue yuan yun",
}
# Patterns of Arabic words: 1, 2, 3 are the consonants of the root.
PATTERNS: Final = tuple(
    (
        "1a23 1i23 1u23 1a2a3 1aː2i3 1a2iː3 1i2aː3 1u2uː3 1a2uː3 1u2aː3 1a22aː3 ma12a3 ma12uː3 "
        "mi12aː3 mu1a22i3 ta12iː3 ta1aː2u3 ta1a22u3 ta1a22a3 ʔi12aː3 ʔa12a3 ʔa12aː3 ja12a3 ja12u3 "
        "ja12i3 na12u3 1a23a 1i23a 1u23a 1a2a3a 1aː2i3a 1a2iː3a 1i2aː3a 1a2aː3 ta12i3a mu1aː2a3a "
        "1a2aː3iː 1a23aː 1u23aː ista12a3 isti12aː3 mu1aː2i3 muta1a22i3 1a2aː3aːt 1a2a3aːt in1i2aː3 "
        "it1a2aː 1i2iː3aː 1a23iː"
    ).split()
)
ROOTS: Final = tuple("ʔ b t θ ʒ ħ x d ð r z s ʃ sˤ dˤ tˤ ʕ ɣ f q k l m n h w j".split())
SCRIPT: Final = dict(
    zip(
        [*ROOTS, "ðˤ", "a", "i", "u", "aː", "iː", "uː"],
        [*"ءبتثجحخدذرزسشصضطعغفقكلمنهويظ", "َ", "ِ", "ُ", "َا", "ِي", "ُو"],
        strict=True,
    )
)
SUKUN, SHADDA = "ْ", "ّ"  # no vowel follows; the consonant is long
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
class Word:
    """A word: the text given to the synthesiser, and its phonemes."""

    language: str
    text: str
    phonemes: tuple[str, ...]


def english(rng: np.random.Generator) -> list[tuple[str, list[tuple[str, ...]]]]:
    """List spellings with all their pronunciations: the FREQUENT most frequent words of the
    dictionary, and RARE others.
    """
    entries: dict[str, list[tuple[str, ...]]] = {}
    for entry, phones in pronunciations().items():
        entries.setdefault(entry.partition("(")[0], []).append(from_arpabet(phones))
    words = {
        spelling: variants
        for spelling, variants in entries.items()
        if spelling.isalpha()
        and all(2 <= len(variant) <= MAX_PHONEMES for variant in variants)
        and not any(is_zero_shot("en", spelling, variant) for variant in variants)
    }
    model = pocketsphinx.NGramModel.readfile(f"{pocketsphinx.get_model_path()}/{LANGUAGE_MODEL}")
    ranked = sorted(words, key=lambda spelling: -model.prob([spelling]))
    rare = rng.choice(ranked[FREQUENT:], RARE, replace=False)
    return [(spelling, words[spelling]) for spelling in [*ranked[:FREQUENT], *map(str, rare)]]


def frequent(count: int) -> list[tuple[str, ...]]:
    """List the phonemes of the most frequent English words."""
    return [variants[0] for _, variants in english(np.random.default_rng(0))[:count]]


def mandarin(count: int, rng: np.random.Generator) -> list[Word]:
    """Draw pseudo-words of two syllables, and some of one and three."""
    syllables = [
        f"{initial.strip('-')}{final}{tone}"
        for initials, finals in SYLLABLES.items()
        for initial, final, tone in product(initials.split(), finals.split(), "1234")
    ]
    words: dict[tuple[str, ...], Word] = {}
    while len(words) < count:
        chosen = [str(s) for s in rng.choice(syllables, rng.choice([1, 2, 3], p=[0.1, 0.75, 0.15]))]
        if sandhi(chosen):
            continue
        phonemes = from_pinyin(" ".join(chosen))
        if not is_zero_shot("zh", " ".join(chosen), phonemes):
            words[phonemes] = Word("zh", " ".join(chosen), phonemes)
    return list(words.values())


def sandhi(syllables: Sequence[str]) -> bool:
    """Say whether a third tone follows another in pinyin: the first is then spoken as a second
    tone.
    """
    return any(a[-1] == b[-1] == "3" for a, b in pairwise(syllables))


def arabic(count: int, rng: np.random.Generator) -> list[Word]:
    """Draw pseudo-words: roots of three different consonants in the patterns of the language."""
    words: dict[tuple[str, ...], Word] = {}
    while len(words) < count:
        root = [str(c) for c in rng.choice(ROOTS, 3, replace=False)]
        pieces = re.split("([123])", str(rng.choice(PATTERNS)))
        phonemes = tuple(
            phoneme
            for piece in pieces
            for phoneme in ([root[int(piece) - 1]] if piece.isdigit() else from_ipa(piece))
        )
        text = vowelled(phonemes)
        if not is_zero_shot("ar", text, phonemes):
            words[phonemes] = Word("ar", text, phonemes)
    return list(words.values())


def vowelled(phonemes: tuple[str, ...]) -> str:
    """Write fully vowelled Arabic script, which the synthesiser needs."""
    text, vowels = "", "a i u aː iː uː".split()
    for before, phoneme, after in _neighbours(phonemes):
        if phoneme in vowels:
            text += ("ا" if not before else "") + SCRIPT[phoneme]
        elif phoneme == after:
            continue
        else:
            letter = ("إ" if after == "i" else "أ") if phoneme == "ʔ" and not before else ""
            text += letter or SCRIPT[phoneme]
            text += SHADDA if phoneme == before else ""
            text += "" if after in vowels else SUKUN
    return text


def _neighbours(phonemes: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    return zip(("", *phonemes), phonemes, (*phonemes[1:], ""), strict=False)


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
    for (spelling, variants), ipa in zip(spellings, transcriptions, strict=True):
        try:
            # espeak-ng marks length, and its ᵻ lies between ɪ and ə.
            spoken = from_ipa(ipa.replace("ː", "").replace("ᵻ", "ɪ"))
        except InputError:
            continue
        nearest = min(variants, key=lambda p: Levenshtein.distance(p, spoken))
        if Levenshtein.distance(nearest, spoken) <= tolerance:
            words.append(Word("en", spelling, nearest))
    return words


def _read(data: bytes) -> tuple[np.ndarray, int]:
    with Wave_read(BytesIO(data)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
        return samples.astype(np.float32) / 32768, file.getframerate()
