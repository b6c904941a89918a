"""Pocketsphinx: phones of known words by forced alignment, words of a grammar or of any sentence.

Any sentence, with a language model, is recognised on two corpora. studio: the validation prompts of
a professional speaker, by pocketsphinx's general language model; visitors: the LibriSpeech
utterances of speakers whom nothing was trained on, whose recordings the general model is lost on,
by a bigram model of their own texts.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Final

import numpy as np
import pocketsphinx

from earshot.media.audio.load import to_int16
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.grammar import Grammar
from training.common.corpora import Item, speech_items, waveforms

FRAME = 0.01  # seconds
MARGIN = round(0.1 * SAMPLE_RATE)  # samples of silence padded on both sides, as sphinx expects

Word = tuple[str, str]  # spelling, phones
STUDIO: Final = ("studio_prompts", "en1", "val")
VISITORS: Final = ("librispeech_251", None, "test")
MIN_WORDS: Final = 3  # shorter prompts are guessed rather than recognised
DISCOUNT: Final = 0.5  # of each bigram's count, left to words that never followed (Ney et al. 1994)
NUMBERS: Final = "zero one two three four five six seven eight nine ten eleven twelve".split()
START, END = "<s>", "</s>"


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


@dataclass(frozen=True)
class Spoken:
    """A recording with its words: waveform (T,) at 16 kHz."""

    waveform: np.ndarray
    words: list[str]
    speaker: str


class OpenRecogniser:
    """Pocketsphinx with its English acoustic model and dictionary, and a language model."""

    def __init__(self, texts: Iterable[list[str]] | None = None) -> None:
        """Make the decoder. texts: sentences to make a bigram model of; without them the general
        model is used.
        """
        if texts is None:
            self._decoder = pocketsphinx.Decoder(samprate=SAMPLE_RATE, loglevel="FATAL")
            return
        with TemporaryDirectory() as folder:
            path = Path(folder) / "bigram.lm"
            path.write_text(bigram_arpa(texts), encoding="utf-8")
            self._decoder = pocketsphinx.Decoder(
                samprate=SAMPLE_RATE, loglevel="FATAL", lm=str(path)
            )

    def words(self, waveform: np.ndarray) -> list[str]:
        """Recognise the words in a waveform (T,) at 16 kHz; [] when there are none."""
        samples = np.pad(to_int16(waveform), MARGIN).tobytes()
        # Each recording is recognised as the first one: the cepstral mean would else carry over.
        self._decoder.reinit_feat()
        self._decoder.start_utt()
        self._decoder.process_raw(samples, full_utt=True)
        self._decoder.end_utt()
        hypothesis = self._decoder.hyp()
        return hypothesis.hypstr.split() if hypothesis else []


def open_test_set(data: Path, every: bool = False) -> dict[str, list[Spoken]]:
    """Load the recordings of each group that the data folder has: studio and visitors.

    every: take all English recordings with texts of the two corpora, whatever speaker and split.
    """
    items = speech_items(data)
    pronounceable = dictionary()
    studio = [
        item
        for item in _chosen(items, STUDIO, every)
        if len(spoken_words(item.text)) >= MIN_WORDS
        and pronounceable.issuperset(spoken_words(item.text))
    ]
    groups = {"studio": studio, "visitors": _chosen(items, VISITORS, every)}
    return {
        group: [Spoken(w, spoken_words(i.text), str(i.speaker)) for i, w in waveforms(chosen)]
        for group, chosen in groups.items()
        if chosen
    }


def recogniser(group: str, test_set: list[Spoken]) -> OpenRecogniser:
    """Make the recogniser that judges a group of open_test_set."""
    if group == "studio":
        return OpenRecogniser()
    return OpenRecogniser(utterance.words for utterance in test_set)


def spoken_words(text: str) -> list[str]:
    """Spell a written prompt as its spoken words: small letters, numbers up to twelve in words."""
    words = re.findall(r"[a-z']+|\d+", text.lower().replace("’", "'"))
    spelled = [_number(word) for word in words]
    return [word.strip("'") for word in spelled if word.strip("'")]


def dictionary() -> frozenset[str]:
    """List the words that pocketsphinx can recognise."""
    path = Path(pocketsphinx.get_model_path()) / "en-us" / "cmudict-en-us.dict"
    return frozenset(line.split()[0] for line in path.read_text(encoding="utf-8").splitlines())


def bigram_arpa(texts: Iterable[list[str]]) -> str:
    """Write a bigram model with absolute discounting, in ARPA's format.

    Words that pocketsphinx cannot pronounce are left out of it, and count as errors wherever they
    were said.
    """
    pronounceable = dictionary()
    sentences = [[START, *(w for w in text if w in pronounceable), END] for text in texts]
    unigrams = Counter(word for s in sentences for word in s[1:])
    bigrams = Counter(pair for s in sentences for pair in zip(s[:-1], s[1:], strict=True))
    total = sum(unigrams.values())
    chance = {word: count / total for word, count in unigrams.items()}
    followed = Counter[str]()
    kinds = Counter[str]()
    covered = defaultdict[str, float](float)
    for (one, other), count in bigrams.items():
        followed[one] += count
        kinds[one] += 1
        covered[one] += chance[other]
    lines = ["\\data\\", f"ngram 1={len(chance) + 1}", f"ngram 2={len(bigrams)}", "", "\\1-grams:"]
    for word in (START, *sorted(chance)):
        left = DISCOUNT * kinds[word] / followed[word] if followed[word] else 1.0
        backoff = left / max(1 - covered[word], 1e-9) if followed[word] else 1.0
        lines.append(f"{_log10(chance.get(word, 0.0))} {word} {_log10(backoff)}")
    lines += ["", "\\2-grams:"]
    for (one, other), count in sorted(bigrams.items()):
        lines.append(f"{_log10((count - DISCOUNT) / followed[one])} {one} {other}")
    return "\n".join([*lines, "", "\\end\\", ""])


def _chosen(items: list[Item], which: tuple[str, str | None, str], every: bool) -> list[Item]:
    corpus, speaker, split = which
    texts = [i for i in items if i.corpus == corpus and i.language == "en" and i.text]
    if every:
        return texts
    return [i for i in texts if speaker in (None, i.speaker) and i.split == split]


def _number(word: str) -> str:
    return NUMBERS[int(word)] if word.isdigit() and int(word) < len(NUMBERS) else word


def _log10(share: float) -> str:
    return f"{math.log10(share):.4f}" if share > 0 else "-99.0"
