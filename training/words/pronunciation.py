"""Which sound was wrong, fitted and measured: on synthetic voices that say one phoneme wrong, and
on people, whose phonemes count as right.

The logistic regression is fitted on the voices and words of mispronunciations.FIT and on people of
the training splits, and measured on those of mispronunciations.TEST and on people of the test
splits. Where the package hama is installed (pip install hama==1.7.0; its training data is not
named), its posteriors are measured as well.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.linear_model import LogisticRegression
from statsmodels.stats.proportion import proportion_confint

from earshot.core.paths import CHECKPOINTS
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.phonemes import pronunciations
from earshot.systems.words import Words
from earshot.systems.words.phoneme_lattice import (
    COLUMNS,
    ENGLISH,
    NUMBERS,
    Evidence,
    ExpectedPhoneme,
    align_english,
)
from earshot.systems.words.pronunciation import Pronouncer
from earshot.systems.words.pronunciation_check import (
    MAX_LETTERS,
    MAX_WORDS,
    Calibration,
    CheckedPhoneme,
    expected_phonemes,
    is_another_text,
    judge,
    wrong_odds,
)
from training.common.corpora import speech_items, waveforms
from training.common.report import publish_text
from training.words.mispronunciations import FIT, KINDS, TEST, Utterance, utterances

WORDS, SENTENCES = 400, 60  # of the test set, and as many to fit on
QUICK: Final = 4  # of these one in so many
PEOPLE: Final = 60  # recordings of a corpus
CALLED_WRONG: Final = 0.04  # share of right phonemes, on the voices fitted on; the floor is 0.05
CALLED_CLOSE: Final = 0.12  # of right phonemes, close or wrong
NEAR: Final = 0.06  # seconds
REGULARISATION: Final = 30.0
PEOPLE_WEIGHT: Final = 10.0  # of a phoneme of people in the fit; of a synthetic voice 1
MAX_SECONDS: Final = 20.0  # of a recording of people
SPELLING: Final = re.compile(r"[a-z']+")
DIGIT: Final = re.compile(r"\d")
SILENCE: Final = np.zeros(0, np.float32)
# Corpus → who speaks, on the page.
FITTED: Final = ("studio_prompts", "google_speech_commands_sample", "dspspeech20")
PEOPLE_OF: Final = {
    "librispeech_251": "readers of books, American English",
    "google_speech_commands_sample": "single words, many accents",
    "free_spoken_digits": "digits, over the telephone",
    "dspspeech20": "Mandarin speakers, English words",
}
# What each row of the table joins, by its number among the posteriors.
POSTERIORS: Final = {
    "words-bottleneck": (0,),
    "words-states-bottleneck": (1,),
    "hama": (2,),
    "both of ours (the app)": (0, 1),
    "ours and hama": (0, 1, 2),
}
SHIPPED: Final = (0, 1)
# hama's symbols that are written otherwise here.
HAMA: Final = {
    symbol: phoneme
    for symbol, _, phoneme in (
        pair.partition(":")
        for pair in (
            "t͡ʃ:tʃ d͡ʒ:dʒ ʌ:ə ɐ:ə ᵊ:ə ɘ:ə ɚ:ɝ ɜ:ɝ ɒ:ɑ ä:ɑ a:æ e:ɛ o:oʊ r:ɹ g:ɡ ɫ:l ɾ:t tʰ:t kʰ:k "
            "pʰ:p ʉ:u eə:ɛ ɪə:ɪ y:u ɻ:ɹ ɦ:h"
        ).split()
    )
}


@dataclass(frozen=True, eq=False)
class Example:
    """What each model heard of a recording, and what was said in it: utterance; expected: the
    phonemes of its text; unlike: the evidence for another text."""

    utterance: Utterance
    expected: tuple[ExpectedPhoneme, ...]
    evidence: tuple[Evidence, ...]
    unlike: "Example | None" = None


@dataclass(frozen=True)
class Share:
    """So many of a number, with Wilson's interval."""

    count: int
    number: int

    def __str__(self) -> str:
        low, high = proportion_confint(self.count, self.number, method="wilson")
        return f"{self.count / self.number:.1%} ({low:.1%}–{high:.1%})"


def evaluate_pronunciation(data: Path, publish: bool, quick: bool = False) -> None:
    """Fit the calibration, measure it with each posterior, and print the tables; publish: write the
    calibration into the checkpoint's config, and the tables into the page."""
    part = QUICK if quick else 1
    listen = _listener()
    fit = [*_synthetic(listen, FIT, 0, part), *_people(listen, data, FITTED, "train", part)]
    test = list(_synthetic(listen, TEST, 1, part))
    people = list(_people(listen, data, tuple(PEOPLE_OF), "test", part))
    rows, calibrations = [], {}
    for name, models in POSTERIORS.items():
        if max(models) < len(test[0].evidence):
            calibrations[models] = fit_calibration(fit, models)
            rows.append({"posteriors": name, **measure(test, models, calibrations[models])})
    shipped = calibrations[SHIPPED]
    refused = [
        {
            "what was said": name,
            "refused as something else": str(
                Share(sum(is_another_text(_judged(e, SHIPPED, shipped)) for e in some), len(some))
            ),
        }
        for name, some in (
            ("the text", [e for e in test if e.utterance.kind == "right"]),
            ("with one phoneme wrong", [e for e in test if e.utterance.kind != "right"]),
            ("another text", [e.unlike for e in test if e.unlike]),
        )
    ]
    of_people = [
        {"people": PEOPLE_OF[corpus], **called_wrong(examples, SHIPPED, shipped)}
        for corpus in PEOPLE_OF
        if (examples := [e for e in people if e.utterance.voice == corpus])
    ]
    curve = [
        {"called wrong from": f"{wrong:.2f}"}
        | measure(test, SHIPPED, replace(shipped, wrong=wrong))
        for wrong in (shipped.wrong * factor for factor in (0.25, 0.5, 1, 2, 4))
        if wrong < 1
    ]
    tables = [_markdown(table) for table in (rows, curve, of_people, refused)]
    print(*tables, sep="\n\n")
    if publish:
        path = CHECKPOINTS / "words" / "config.json"
        config = json.loads(path.read_text(encoding="utf-8"))
        config["pronunciation_check"] = vars(shipped)
        path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        page = CHECKPOINTS.parent / "docs" / "words.md"
        publish_text("\n\n".join(tables), page, "pronunciation")


def _markdown(rows: Sequence[dict[str, str]]) -> str:
    """Write rows of the same columns as a Markdown table."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def fit_calibration(examples: Sequence[Example], models: Sequence[int]) -> Calibration:
    """Fit the logistic regression over the evidence of some models, and its thresholds, which are
    those of the share of right phonemes on the right utterances."""
    odds, wrong, symbols, late, weights = [], [], [], [], []
    for example in examples:
        utterance, length = example.utterance, len(example.expected)
        evidence = [example.evidence[model] for model in models]
        odds.append(np.stack([wrong_odds(each, example.expected) for each in evidence], axis=1))
        symbols.append([NUMBERS[e.phoneme] for e in example.expected] + [0] * (length + 1))
        is_wrong = np.zeros(2 * length + 1, bool)
        if utterance.kind != "right":
            place = utterance.place + length * (utterance.kind == "added")
            is_wrong[place] = True
            if utterance.kind == "changed":
                late.append([np.mean(utterance.span) - each.times[place] for each in evidence])
        wrong.append(is_wrong)
        weights.append(np.full(len(is_wrong), 1.0 if utterance.voice in FIT else PEOPLE_WEIGHT))
    table, labels = _features(np.concatenate(odds), np.concatenate(symbols)), np.concatenate(wrong)
    model = LogisticRegression(C=REGULARISATION, max_iter=3000)
    regression = model.fit(table, labels, np.concatenate(weights))
    numbers, bias = regression.coef_[0].round(4).tolist(), float(regression.intercept_[0])
    count = len(models)
    biases = {p: round(n / 2, 4) for p, n in zip(ENGLISH, numbers[2 * count :], strict=False)}
    right = np.repeat(
        [example.utterance.kind == "right" for example in examples], list(map(len, wrong))
    )
    probabilities = np.sort(regression.predict_proba(table)[right, 1])[::-1]
    phonemes = (right & (np.concatenate(symbols) > 0)).sum()
    return Calibration(
        substituted=[*numbers[:count], round(bias, 4)],
        added=[*numbers[count : 2 * count], round(bias + numbers[-1], 4)],
        phonemes=biases,
        delays=np.median(late, axis=0).round(4).tolist(),
        wrong=round(float(probabilities[round(CALLED_WRONG * phonemes)]), 4),
        close=round(float(probabilities[round(CALLED_CLOSE * phonemes)]), 4),
    )


def _features(odds: np.ndarray, symbols: np.ndarray) -> np.ndarray:
    """Arrange the odds by each model, (N, M), by whether a phoneme is expected; which one (its
    number in ENGLISH, 0: none) in columns of their own, and last whether there is none."""
    expected = symbols > 0
    columns = np.zeros((len(odds), len(ENGLISH) + 1))
    columns[np.arange(len(odds)), symbols - 1] = np.where(expected, 0.5, 1.0)
    return np.hstack([odds * expected[:, None], odds * ~expected[:, None], columns])


def measure(
    examples: Iterable[Example], models: Sequence[int], calibration: Calibration
) -> dict[str, str]:
    """Measure the share of wrong phonemes that are called wrong within NEAR of where they are said,
    in all and by kind, and the share of right ones that are called so."""
    results: dict[str, list[bool]] = defaultdict(list)
    for example in examples:
        utterance = example.utterance
        if utterance.kind == "right":
            continue
        (start, end), near = utterance.span, False
        for phoneme in _judged(example, models, calibration):
            middle = (phoneme.start + phoneme.end) / 2
            if phoneme.verdict == "wrong" and start - NEAR <= middle <= end + NEAR:
                near = True
        results[utterance.kind].append(near)
    every = [near for kind in KINDS for near in results[kind]]
    shares = {kind: str(Share(sum(results[kind]), len(results[kind]))) for kind in KINDS}
    return {
        "wrong ones found": str(Share(sum(every), len(every))),
        **shares,
        **called_wrong(examples, models, calibration),
    }


def called_wrong(
    examples: Iterable[Example], models: Sequence[int], calibration: Calibration
) -> dict[str, str]:
    """Measure the share of phonemes that are called wrong in the right utterances."""
    count = number = 0
    for example in examples:
        if example.utterance.kind == "right":
            judged = _judged(example, models, calibration)
            count += sum(phoneme.verdict == "wrong" for phoneme in judged)
            number += len(example.expected)
    return {"right ones called wrong": str(Share(count, number))}


def _judged(
    example: Example, models: Sequence[int], calibration: Calibration
) -> Sequence[CheckedPhoneme]:
    return judge([example.evidence[model] for model in models], example.expected, calibration)


Expected = Sequence[ExpectedPhoneme]
Listener = Callable[[Utterance, Expected, Expected], Example]


def _listener() -> Listener:
    """Load the models; return what encodes an utterance by each of them."""
    words = Words.from_pretrained(CHECKPOINTS / "words", "cpu")

    def listen(utterance: Utterance, expected: Expected, another: Expected) -> Example:
        waveform = utterance.waveform
        posteriors = [np.exp(each[:, COLUMNS]) for each in words.log_posteriors(waveform)]
        if find_spec("hama"):
            posteriors.append(hama_posteriors(waveform))
        utterance = replace(utterance, waveform=SILENCE)
        seconds = len(waveform) / SAMPLE_RATE
        texts = [text for text in (expected, another) if text]
        examples = [
            Example(
                utterance,
                tuple(text),
                tuple(align_english(each, text, seconds) for each in posteriors),
            )
            for text in texts
        ]
        return replace(examples[0], unlike=examples[1]) if another else examples[0]

    return listen


def _synthetic(listen: Listener, voices: Sequence[str], seed: int, part: int) -> Iterator[Example]:
    """Yield what was heard of synthetic voices, of one in ``part`` of the texts."""
    before: tuple[ExpectedPhoneme, ...] = ()
    for utterance in utterances(voices, WORDS // part, SENTENCES // part, seed):
        expected = tuple(ExpectedPhoneme(p, frozenset(), 0) for p in utterance.phonemes)
        yield listen(utterance, expected, () if expected == before else before)
        before = expected


def _people(
    listen: Listener, data: Path, corpora: Sequence[str], split: str, part: int
) -> Iterator[Example]:
    """Yield what was heard of people, whose voice is the corpus; PEOPLE recordings of each at most,
    of texts whose words the dictionary has."""
    pronounce = Pronouncer.from_pretrained()
    english = [i for i in speech_items(data) if i.language == "en" and i.split == split]
    for corpus in corpora:
        items = [item for item in english if item.corpus == corpus and _is_readable(item.text)]
        drawn = np.random.default_rng(0).permutation(len(items))[: PEOPLE // part]
        for item, waveform in waveforms([items[i] for i in sorted(drawn.tolist())]):
            _, expected = expected_phonemes(pronounce, item.text.lower())
            phonemes = tuple(each.phoneme for each in expected)
            padded = np.pad(waveform, SAMPLE_RATE // 10)
            if len(padded) > MAX_SECONDS * SAMPLE_RATE:
                continue
            yield listen(Utterance(item.text, phonemes, corpus, padded), expected, ())


def _is_readable(text: str) -> bool:
    words = SPELLING.findall(text.lower())
    letters = sum(map(len, words))
    readable = bool(words) and all(word in pronunciations() for word in words)
    return (
        readable and letters <= MAX_LETTERS and len(words) <= MAX_WORDS and not DIGIT.search(text)
    )


@cache
def _hama() -> tuple[Any, dict[int, list[int]]]:
    """Load hama's recogniser; return it with which of its symbols stand for each of COLUMNS."""
    model = import_module("hama.asr").ASRModel()  # not a dependency of the app
    columns: dict[int, list[int]] = defaultdict(list)
    symbols: Sequence[str] = model.decoder_tokens
    for number, symbol in enumerate(symbols):
        phoneme = HAMA.get(symbol, symbol)
        if phoneme in NUMBERS or symbol in ("<blank>", "<wb>"):
            columns[NUMBERS.get(phoneme, 0)].append(number)
    return model, columns


def hama_posteriors(waveform: np.ndarray) -> np.ndarray:
    """Map speech (T,) at 16 kHz → hama's posteriors of the blank and of English (S, 1 + A)."""
    model, columns = _hama()
    samples = np.clip(waveform, -1, 1).astype(np.float32)[None]
    lengths = np.array([samples.shape[1]], np.int64)
    posteriors, steps = model.session.run(
        [model._log_probs_output_name, model._out_lengths_output_name],
        {model._waveform_input_name: samples, model._waveform_lengths_input_name: lengths},
    )
    posteriors = np.exp(np.asarray(posteriors[0])[: int(np.ravel(steps)[0])].astype(np.float64))
    return np.stack([posteriors[:, columns[i]].sum(axis=1) for i in range(len(COLUMNS))], axis=1)
