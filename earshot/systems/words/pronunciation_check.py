"""Which sound of a word or sentence was wrong: goodness of pronunciation from phoneme posteriors.

Each phoneme of the text is weighed in a lattice (phoneme_lattice.py) over the posteriors of each
phoneme-bottleneck model. A logistic regression over these, fitted on synthetic voices that say one
phoneme wrong (training/words/pronunciation.py), gives the probability that it is wrong.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import Any, Final, Literal

import numpy as np
from rapidfuzz.distance import Levenshtein
from scipy.special import expit, logsumexp

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.media.audio.load import Audio, load
from earshot.media.constants import SAMPLE_RATE
from earshot.media.samples import SILENT_PEAK
from earshot.media.text.letters import usual_letters
from earshot.media.text.phonemes import from_arpabet, pronunciations
from earshot.pretrained.speech_segments import speech_segments
from earshot.systems.words.phoneme_lattice import (
    ADDED,
    DROPPED,
    ENGLISH,
    NUMBERS,
    SUBSTITUTED,
    Evidence,
    ExpectedPhoneme,
    align,
)
from earshot.systems.words.pronunciation import (
    ARPABET_TEXT,
    BRACKETED,
    MAX_TYPED,
    STRESSED,
    Pronunciation,
    bare_word,
)
from earshot.systems.words.system import Words

Verdict = Literal["expected", "close", "wrong"]

MAX_LETTERS: Final = 200
MAX_WORDS: Final = 30
MAX_RECORDING: Final = 60.0  # seconds
MAX_SPEECH: Final = 25.0  # seconds
MIN_SPEECH: Final = 0.1  # seconds
MARGIN: Final = 0.15  # seconds kept around the speech
MAX_EVIDENCE: Final = 15.0  # of one model, in nats
MIN_STEPS: Final = 0.5  # of a model a phoneme, at least
MAX_HALF: Final = 0.09  # seconds of a phoneme before and after its middle, at most
MAX_WRONG: Final = 0.7  # of the number of phonemes; where more are wrong, another text was said
WORD_CHARACTER: Final = re.compile(r"\w")  # of anything that is no punctuation
ENGLISH_SOURCES: Final = ("dictionary", "name", "guess", "IPA", "ARPAbet")
TOO_SHORT: Final = (
    "{seconds:.1f} s of speech are too short for “{text}”. Say all of it, at your own pace."
)
# Differences that accents make, and that are not called wrong.
ALIKE: Final = frozenset(map(frozenset, (("ɑ", "ɔ"), ("ə", "ɪ"), ("ə", "ʊ"), ("ə", "ɝ"))))


@dataclass(frozen=True)
class CheckedPhoneme:
    """A phoneme of the text, "" where one was added, and what was heard of it.

    actual: that phoneme, "" where none was; probability: that it is wrong; start and end in
    seconds; word: the number of its word.
    """

    phoneme: str
    actual: str
    verdict: Verdict
    probability: float
    start: float
    end: float
    word: int

    @property
    def sentence(self) -> str:
        """Return what was not as expected, such as “/θ/ heard as /s/ at 0.31 s”; empty where
        nothing was."""
        if self.verdict == "expected":
            return ""
        if self.verdict == "close":
            return f"/{self.phoneme}/ close at {self.start:.2f} s"
        if not self.phoneme:
            return f"/{self.actual}/ added at {self.start:.2f} s"
        result = f"heard as /{self.actual}/" if self.actual else "not heard"
        return f"/{self.phoneme}/ {result} at {self.start:.2f} s"


@dataclass(frozen=True, eq=False)
class PronunciationCheck:
    """What was heard of each phoneme of a text, in a recording (T,) at 16 kHz, in order of time,
    and notices about the recording."""

    words: tuple[str, ...]
    phonemes: tuple[CheckedPhoneme, ...]
    waveform: np.ndarray
    notices: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Write the words, and of each phoneme what CheckedPhoneme has."""
        phonemes = [
            asdict(phoneme)
            | {name: round(getattr(phoneme, name), 3) for name in ("probability", "start", "end")}
            for phoneme in self.phonemes
        ]
        return {"words": list(self.words), "phonemes": phonemes, "notices": list(self.notices)}


@dataclass(frozen=True)
class Calibration:
    """A logistic regression from the evidence of the models to the probability of a wrong phoneme.

    substituted, added: weights of the models, and the bias, for a phoneme of the text and for one
    before it; phonemes: a further bias of each; delays: seconds by which each model is early;
    wrong, close: from which probability a phoneme is called so.
    """

    substituted: Sequence[float]
    added: Sequence[float]
    phonemes: Mapping[str, float]
    delays: Sequence[float]
    wrong: float
    close: float


def check_pronunciation(words: Words, audio: Audio, text: str) -> PronunciationCheck:
    """Check which phonemes of an English word or sentence were said otherwise in a recording of it.

    Raises InputError for a text that cannot be pronounced, for a recording that cannot be used, and
    for one of something else.
    """
    if "pronunciation_check" not in words.config:
        raise InputError("This model cannot check sounds. Choose the default, “words”.")
    spellings, expected = expected_phonemes(words.pronounce, text)
    waveform, (start, end), notices = _speech(audio)
    speech = waveform[round(start * SAMPLE_RATE) : round(end * SAMPLE_RATE)]
    evidence = []
    for log_posteriors in words.log_posteriors(speech):
        cancellation.check()
        if len(log_posteriors) < MIN_STEPS * len(expected):
            raise InputError(TOO_SHORT.format(text=" ".join(spellings), seconds=end - start))
        evidence.append(align(log_posteriors, expected, end - start))
    calibration = Calibration(**words.config["pronunciation_check"])
    phonemes = judge(evidence, expected, calibration, start)
    if is_another_text(phonemes):
        raise InputError(
            f"This does not sound like “{' '.join(spellings)}”: most of its sounds were not heard.",
            "Check the text, and say just that, close to the microphone.",
        )
    return PronunciationCheck(spellings, phonemes, waveform, notices)


def is_another_text(phonemes: Sequence[CheckedPhoneme]) -> bool:
    """Whether so many phonemes are wrong that something else was said."""
    wrong = sum(phoneme.verdict == "wrong" for phoneme in phonemes)
    return wrong > MAX_WRONG * sum(bool(phoneme.phoneme) for phoneme in phonemes)


def expected_phonemes(
    pronounce: Callable[[str], Pronunciation], text: str
) -> tuple[tuple[str, ...], tuple[ExpectedPhoneme, ...]]:
    """Read a text, word by word: the words as typed, and their phonemes. Raises InputError."""
    tidy = " ".join(usual_letters(text[: MAX_TYPED + 1]).split())
    letters = sum(c.isalpha() for c in tidy)
    if letters > MAX_LETTERS or len(tidy) > 2 * MAX_LETTERS or len(text) > MAX_TYPED:
        raise InputError(
            f"That is too long: {MAX_LETTERS} letters are the most. Type a word or one sentence."
        )
    is_notation = BRACKETED.fullmatch(tidy) or ARPABET_TEXT.fullmatch(tidy) or STRESSED.search(tidy)
    spellings = (
        [tidy] if is_notation else [word for word in tidy.split() if WORD_CHARACTER.search(word)]
    )
    if not spellings:
        pronounce(tidy)  # which says what is wrong with it
        raise InputError("There is no word in this. Type one in letters, such as “hello”.")
    if len(spellings) > MAX_WORDS:
        raise InputError(f"That is too long: {MAX_WORDS} words are the most. Type one sentence.")
    expected: list[ExpectedPhoneme] = []
    for number, spelling in enumerate(spellings):
        pronunciation = pronounce(spelling)
        phonemes = pronunciation.phonemes
        foreign = next((p for p in phonemes if p not in NUMBERS), None)
        if pronunciation.source not in ENGLISH_SOURCES or foreign:
            raise InputError(
                "Only the sounds of English can be checked.", "Type an English word or sentence."
            )
        last = expected[-1].phoneme if expected else ""
        expected += _with_variants(phonemes, spelling, number, last)
    return tuple(spellings), tuple(expected)


def _with_variants(
    phonemes: Sequence[str], spelling: str, number: int, before: str
) -> Iterator[ExpectedPhoneme]:
    """Yield the phonemes of a word, with those that the dictionary has in their places in its other
    pronunciations; before: the phoneme before the word."""
    others: list[set[str]] = [set() for _ in phonemes]
    dictionary = pronunciations()
    for variant in count(2):
        entry = dictionary.get(f"{bare_word(spelling).lower()}({variant})")
        if entry is None:
            break
        other = from_arpabet(entry)
        for edit in Levenshtein.editops(phonemes, other):
            if edit.tag != "insert":
                others[edit.src_pos].add(other[edit.dest_pos] if edit.tag == "replace" else "")
    if phonemes and phonemes[0] == before:
        others[0].add("")  # "hot tea" may have one t
    for phoneme, alike in zip(phonemes, others, strict=True):
        yield ExpectedPhoneme(phoneme, frozenset(alike), number)


def _speech(audio: Audio) -> tuple[np.ndarray, tuple[float, float], tuple[str, ...]]:
    """Load a recording (T,), and find where its speech begins and ends. Raises InputError where
    there is none, or too much."""
    loaded = load(audio, SAMPLE_RATE, MAX_RECORDING, MIN_SPEECH)
    if np.abs(loaded.waveform).max() < SILENT_PEAK:
        raise InputError("The recording is silent.", "Check that the right microphone is on.")
    speech = speech_segments(loaded.waveform)
    if not speech:
        raise InputError(
            "There is sound, but no speech in it: music or noise perhaps.",
            "Say the text, close to the microphone.",
        )
    start, end = max(speech[0][0] - MARGIN, 0.0), speech[-1][1] + MARGIN
    if end - start > MAX_SPEECH:
        raise InputError(
            f"That is {end - start:.0f} s from the first word to the last; {MAX_SPEECH:g} s are "
            "the most. Say one word or sentence."
        )
    return loaded.waveform, (start, min(end, loaded.seconds)), loaded.notices


def judge(
    evidence: Sequence[Evidence],
    expected: Sequence[ExpectedPhoneme],
    calibration: Calibration,
    start: float = 0.0,
) -> tuple[CheckedPhoneme, ...]:
    """Judge each phoneme of the text, and those that were added, by the evidence of all models; the
    speech begins at ``start`` seconds."""
    odds = np.stack([wrong_odds(each, expected) for each in evidence])  # models, 2 N + 1
    in_place = np.tensordot(calibration.substituted[:-1], [e.in_place for e in evidence], 1)
    before = np.tensordot(calibration.added[:-1], [e.before for e in evidence], 1)
    moments = [
        np.r_[e.times, e.times_before] + d
        for e, d in zip(evidence, calibration.delays, strict=True)
    ]
    times = np.mean(moments, axis=0) + start
    length = len(expected)
    judged: list[CheckedPhoneme] = []
    for place, time in enumerate(times.tolist()):
        is_added = place >= length
        *weights, bias = calibration.added if is_added else calibration.substituted
        logit = float(np.dot(weights, odds[:, place])) + bias
        if is_added:
            probability = float(expit(logit))
            if probability < calibration.wrong:
                continue
            symbol = ENGLISH[int(before[place - length].argmax())]
            word = expected[min(place - length, length - 1)].word
            judged.append(CheckedPhoneme("", symbol, "wrong", probability, time, time, word))
            continue
        phoneme = expected[place]
        probability = float(expit(logit + calibration.phonemes.get(phoneme.phoneme, 0.0)))
        others = in_place[place].copy()
        others[_accepted(phoneme)] = -np.inf
        symbol = ("", *ENGLISH)[int(others.argmax())]
        verdict: Verdict = "expected"
        if probability >= calibration.close:
            alike = frozenset((symbol, phoneme.phoneme)) in ALIKE
            verdict = "close" if alike or probability < calibration.wrong else "wrong"
        symbol = symbol if verdict == "wrong" else phoneme.phoneme
        if not symbol:  # where the phonemes beside it meet
            time = float(times[max(place - 1, 0) : min(place + 2, length)].mean())
        judged.append(
            CheckedPhoneme(phoneme.phoneme, symbol, verdict, probability, time, time, phoneme.word)
        )
    return _with_bounds(sorted(judged, key=lambda each: (each.word, each.start)))


def wrong_odds(evidence: Evidence, expected: Sequence[ExpectedPhoneme]) -> np.ndarray:
    """Compute the logarithms of the odds that each phoneme of the text is said otherwise, and that
    one is added before each and at the end, by one model: (2 N + 1,)."""
    priors = np.log([DROPPED, *[SUBSTITUTED / (len(ENGLISH) - 1)] * len(ENGLISH)])
    odds = []
    for ratios, phoneme in zip(evidence.in_place, expected, strict=True):
        right = _accepted(phoneme)
        wrong = np.delete(ratios + priors, right)
        odds.append(np.logaddexp.reduce(wrong) - np.logaddexp.reduce(ratios[right]))
    added = logsumexp(evidence.before, axis=1) + np.log(ADDED / len(ENGLISH))
    return np.clip([*odds, *added], -MAX_EVIDENCE, MAX_EVIDENCE)


def _accepted(phoneme: ExpectedPhoneme) -> list[int]:
    """List the columns of what is right in the place of a phoneme."""
    return [NUMBERS.get(each, 0) for each in {phoneme.phoneme, *phoneme.others}]


def _with_bounds(phonemes: Sequence[CheckedPhoneme]) -> tuple[CheckedPhoneme, ...]:
    """Give phonemes at their middles a start and an end: halfway to their neighbours."""
    bounded = []
    for i, phoneme in enumerate(phonemes):
        middle = phoneme.start
        before = middle - phonemes[i - 1].start if i else 2 * MAX_HALF
        after = phonemes[i + 1].start - middle if i + 1 < len(phonemes) else 2 * MAX_HALF
        start, end = middle - min(before / 2, MAX_HALF), middle + min(after / 2, MAX_HALF)
        bounded.append(replace(phoneme, start=max(start, 0.0), end=max(end, start)))
    return tuple(bounded)
