"""Words and sentences that synthetic voices say right, and with one phoneme changed, dropped or
added, drawn by seed; it is known where each phoneme was said.

The voices are those of espeak-ng, whose library (Debian: libespeak-ng1) reports when each phoneme
begins, and of flite.
"""

import ctypes
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

import numpy as np
import soxr

from earshot.media.audio.load import load, match_loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.phonemes import ARPABET, from_arpabet, numbers, pronunciations
from synthetic.words.collection import SCRIPTS, sentences
from training.common.corpora import LEVEL
from training.words.concatenation import VOWELS
from training.words.synthesis import english

Kind = Literal["right", "changed", "dropped", "added"]
Phonemes = tuple[str, ...]
Span = tuple[float, float]  # start and end in seconds

KINDS: Final[tuple[Kind, ...]] = ("changed", "dropped", "added")
# Voices by which probabilities are fitted, and those by which they are measured.
FIT: Final = ("en-us+m3", "en-us+f2", "en-gb+m1", "en-gb-scotland+m2", "rms", "kal16")
TEST: Final = ("en-us+f4", "en-us+m7", "en-gb+f5", "en-gb-scotland+m4", "slt", "awb")
ESPEAK: Final = {"en-us": "gmw/en-US", "en-gb": "gmw/en", "en-gb-scotland": "gmw/en-GB-scotland"}
FREQUENT: Final = 3000  # words that are drawn from
MIN_PHONEMES, MAX_PHONEMES = 3, 10  # phonemes of a word
MAX_WORDS: Final = 8  # of a sentence
SILENCE: Final = 0.15  # seconds before and after what is said
ATTEMPTS: Final = 20
# ARPAbet → espeak-ng's mnemonics, stressed and not.
MNEMONICS: Final = {
    arpabet: tuple((names + "|" + names).split("|")[:2])
    for arpabet, _, names in (
        pair.partition("=")
        for pair in (
            "AA=A: AE=a AH=V|@ AO=O: AW=aU AY=aI B=b CH=tS D=d DH=D EH=E ER=3:|3 EY=eI F=f G=g "
            "HH=h IH=I IY=i:|i JH=dZ K=k L=l M=m N=n NG=N OW=oU OY=OI P=p R=r S=s SH=S T=t TH=T "
            "UH=U UW=u: V=v W=w Y=j Z=z ZH=Z"
        ).split()
    )
}
NAMES: Final = {ipa: arpabet for arpabet, ipa in ARPABET.items()}
# A vowel of espeak-ng with its stress: ' or , before it.
VOWEL: Final = re.compile(
    r"([',]?)(?:aI@|aI3|i@3|aI|aU|OI|eI|oU|A@|O@|e@|i@|U@|[AO3iu]:|aa|[aI]#|[I@]2|@L|[aEIiVU@3O0u]"
    r"|[nml]-)"
)
# What a phoneme is often said as, by learners and children: of half of the changes.
CONFUSED: Final = {
    wrong: others.split(",")
    for wrong, _, others in (
        pair.partition(":")
        for pair in (
            "θ:s,t,f ð:d,z,v ɹ:l,w l:ɹ,w v:w,b,f w:v z:s,dʒ ʃ:s,tʃ tʃ:ʃ,ts dʒ:tʃ,j,ʒ ʒ:ʃ,dʒ b:p,v "
            "d:t ɡ:k p:b,f t:d k:ɡ f:p,v s:z,ʃ,θ ŋ:n n:ŋ,m m:n h:f j:dʒ æ:ɛ,ɑ ɛ:æ,ɪ ɪ:i,ɛ i:ɪ ʊ:u "
            "u:ʊ ə:ɛ,ɑ ɑ:oʊ,æ ɔ:oʊ,ʊ ɝ:ɑ,ɛ eɪ:ɛ,aɪ oʊ:ɔ,u aɪ:eɪ,ɪ aʊ:oʊ,ɑ ɔɪ:oʊ,aɪ"
        ).split()
    )
}
# A change between these is none in many accents.
ALIKE: Final = frozenset(map(frozenset, (("ɑ", "ɔ"), ("ə", "ɪ"), ("ə", "ʊ"), ("ə", "ɝ"))))


@dataclass(frozen=True, eq=False)
class Utterance:
    """A voice's saying (T,) of a text, whose phonemes are those of General American.

    kind: how the saying differs; place: the phoneme of the text that is changed or dropped, or
    before which one is added; span: when the wrong phoneme is said, where one is dropped, the
    moment.
    """

    text: str
    phonemes: Phonemes
    voice: str
    waveform: np.ndarray
    kind: Kind = "right"
    place: int = -1
    span: Span = (0.0, 0.0)


@dataclass(frozen=True)
class Script:
    """A text with its phonemes and which of these are stressed vowels; ends: the number of
    phonemes up to the end of each word."""

    text: str
    phonemes: Phonemes
    stressed: frozenset[int]
    ends: tuple[int, ...]


def utterances(
    voices: Sequence[str], words: int, sentence_count: int, seed: int
) -> Iterator[Utterance]:
    """Yield so many words and sentences, each right and with one phoneme wrong, by one of the
    voices in turn. Different seeds have different words."""
    rng = np.random.default_rng(seed)
    scripts = [*_words(rng, words, seed), *_sentences(rng, sentence_count)]
    for number, script in enumerate(scripts):
        voice = voices[number % len(voices)]
        kind = KINDS[number // len(voices) % len(KINDS)]
        for _ in range(ATTEMPTS):
            wrong = _wrong(script, kind, voice, rng)
            right = _say(script.phonemes, script.stressed, script.ends, voice, rng)
            if right and wrong:
                yield Utterance(script.text, script.phonemes, voice, right[0])
                yield wrong
                break


def _words(rng: np.random.Generator, count: int, seed: int) -> list[Script]:
    """Draw words that have one pronunciation; those of an even seed are others than of an odd."""
    listed = [
        (spelling, variants[0])
        for spelling, variants in english(np.random.default_rng(0))[:FREQUENT]
        if len(variants) == 1 and MIN_PHONEMES <= len(variants[0]) <= MAX_PHONEMES
    ][seed % 2 :: 2]
    drawn = [listed[i] for i in rng.permutation(len(listed))[:count].tolist()]
    return [_script([word]) for word in drawn]


def _sentences(rng: np.random.Generator, count: int) -> list[Script]:
    """Make sentences of the collection's grammar whose words the dictionary has."""
    dictionary = pronunciations()
    scripts: list[Script] = []
    makers = [sentences(name, rng) for name in SCRIPTS]
    while len(scripts) < count:
        for maker in makers[: count - len(scripts)]:
            words = re.findall(r"[a-z']+", next(maker).lower().replace("-", " "))[:MAX_WORDS]
            if all(word in dictionary for word in words):
                scripts.append(_script([(w, from_arpabet(dictionary[w])) for w in words]))
    return scripts


def _script(words: Sequence[tuple[str, Phonemes]]) -> Script:
    phonemes: list[str] = []
    stressed, ends = set(), []
    for spelling, word in words:
        vowels = [len(phonemes) + i for i, one in enumerate(word) if _is_vowel(one)]
        stress = _stress(spelling)
        if len(vowels) == 1 and stress:
            stressed.add(vowels[0])
        elif stress and len(stress) == len(vowels):
            stressed |= {vowel for vowel, mark in zip(vowels, stress, strict=True) if mark == "'"}
        elif vowels and len(words) == 1:
            stressed.add(vowels[0])
        phonemes += word
        ends.append(len(phonemes))
    return Script(" ".join(w for w, _ in words), tuple(phonemes), frozenset(stressed), tuple(ends))


@cache
def _stress(word: str) -> str:
    """Return the stress of each vowel of a word as espeak-ng says it: "'", "," or " "."""
    command = ["espeak-ng", "-v", "en-us", "-x", "-q", word]
    mnemonics = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    marks = "".join(mark or " " for mark in VOWEL.findall(mnemonics))
    return marks if "'" in marks else ""


def _wrong(script: Script, kind: Kind, voice: str, rng: np.random.Generator) -> Utterance | None:
    """Say the script with one phoneme wrong; None where the voice says something else."""
    phonemes = script.phonemes
    place = int(rng.integers(len(phonemes)))
    here = phonemes[place]
    stressed = set(script.stressed)
    if kind == "changed":
        others = [p for p in ARPABET.values() if p != here and _is_vowel(p) == _is_vowel(here)]
        usual = [p for p in CONFUSED[here] if p in NAMES]
        choices = usual if rng.random() < 0.5 else others
        choices = [p for p in choices if frozenset((p, here)) not in ALIKE]
        spoken = (*phonemes[:place], str(rng.choice(choices)), *phonemes[place + 1 :])
    elif kind == "dropped":
        spoken = phonemes[:place] + phonemes[place + 1 :]
        stressed = {i - (i > place) for i in stressed if i != place}
    else:
        # A vowel beside a consonant, a consonant beside a vowel.
        choices = [p for p in ARPABET.values() if _is_vowel(p) != _is_vowel(here)]
        spoken = (*phonemes[:place], str(rng.choice(choices)), *phonemes[place:])
        stressed = {i + (i >= place) for i in stressed}
    near = spoken[max(place - 1, 0) : place + 2]
    if any(a == b for a, b in zip(near, near[1:], strict=False)):
        return None  # twice the same in a row is heard as one
    ends = [end + (len(spoken) - len(phonemes)) * (end > place) for end in script.ends]
    saying = _say(spoken, frozenset(stressed), ends, voice, rng)
    if saying is None:
        return None
    waveform, spans = saying
    span = spans[min(place, len(spans) - 1)]
    if kind == "dropped":
        moment = span[0] if place < len(spans) else span[1]
        span = (moment, moment)
    return Utterance(script.text, phonemes, voice, waveform, kind, place, span)


def _say(
    phonemes: Phonemes,
    stressed: frozenset[int],
    ends: Sequence[int],
    voice: str,
    rng: np.random.Generator,
) -> tuple[np.ndarray, list[Span]] | None:
    """Say phonemes: the waveform (T,) at SAMPLE_RATE, and when each is said. None where the voice
    says others."""
    speed, pitch = float(rng.uniform(0.85, 1.15)), int(rng.integers(40, 61))
    if "+" in voice:
        names = [
            "'" * (i in stressed) + MNEMONICS[NAMES[p]][i not in stressed]
            for i, p in enumerate(phonemes)
        ]
        starts = (0, *ends)
        words = ("_".join(names[a:b]) for a, b in zip(starts, ends, strict=False) if b > a)
        waveform, rate, spans = _espeak(voice, f"[[{' '.join(words)}]]", round(150 * speed), pitch)
    else:
        names = ["ax" if p == "ə" and i not in stressed else "" for i, p in enumerate(phonemes)]
        names = [n or NAMES[p].lower() for n, p in zip(names, phonemes, strict=True)]
        waveform, rate, spans = _flite(voice, names, 1.2 / speed)
    if len(spans) != len(phonemes):
        return None
    waveform = soxr.resample(waveform.astype(np.float32), rate, SAMPLE_RATE)
    waveform = np.pad(waveform, round(SILENCE * SAMPLE_RATE))
    spans = [(start + SILENCE, end + SILENCE) for start, end in spans]
    return match_loudness(waveform, SAMPLE_RATE, LEVEL), spans


def _flite(voice: str, names: Sequence[str], stretch: float) -> tuple[np.ndarray, int, list[Span]]:
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "word.wav")
        command = ["flite", "-voice", voice, "--setf", f"duration_stretch={stretch:.2f}", "-psdur"]
        text = " ".join(("pau", *names, "pau"))
        run = subprocess.run(
            [*command, "-p", text, path], capture_output=True, text=True, check=True
        )
        waveform = load(path, SAMPLE_RATE).waveform
    segments = [segment.split(":") for segment in run.stdout.split()]
    ends = [float(end) for _, end in segments]
    spans = list(zip([0.0, *ends], ends, strict=False))
    phones = [span for (name, _), span in zip(segments, spans, strict=True) if name != "pau"]
    return waveform, SAMPLE_RATE, phones


class _Event(ctypes.Structure):
    """An event of espeak-ng's, as its C header declares it."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("number", ctypes.c_uint),
        ("position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("milliseconds", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user", ctypes.c_void_p),
        ("name", ctypes.c_char * 8),
    )


_PHONEME: Final = 7  # the type of a phoneme's event
_CALLBACK: Final = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


@cache
def _library() -> tuple[Any, int]:
    """Load espeak-ng, and return its sample rate: synchronous, with events of phonemes."""
    library = ctypes.CDLL("libespeak-ng.so.1")
    return library, library.espeak_Initialize(2, 0, None, 1)


def _espeak(voice: str, text: str, speed: int, pitch: int) -> tuple[np.ndarray, int, list[Span]]:
    library, rate = _library()
    sound: list[np.ndarray] = []
    starts: list[tuple[str, float]] = []

    @_CALLBACK
    def receive(samples: Any, count: int, events: Any) -> int:
        if samples and count:
            sound.append(np.ctypeslib.as_array(samples, (count,)).copy())
        number = 0
        while events[number].type:
            event = events[number]
            if event.type == _PHONEME:
                starts.append((event.name.decode(), event.milliseconds / 1000))
            number += 1
        return 0

    accent, _, variant = voice.partition("+")
    library.espeak_SetSynthCallback(receive)
    if library.espeak_SetVoiceByName(f"{ESPEAK[accent]}+{variant}".encode()):
        raise RuntimeError(f"espeak-ng has no voice {voice}.")
    library.espeak_SetParameter(1, speed, 0)
    library.espeak_SetParameter(3, pitch, 0)
    content = text.encode()
    library.espeak_Synth(content, len(content) + 1, 0, 0, 0, 0x101, None, None)
    ends = [start for _, start in starts[1:]]
    spans = [
        (start, end)
        for (name, start), end in zip(starts, ends, strict=False)
        if not name.startswith("_")
    ]
    return np.concatenate(sound) / 32768, rate, spans


def _is_vowel(phoneme: str) -> bool:
    return numbers([phoneme])[0] in VOWELS
