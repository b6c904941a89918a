"""The recordings of the evaluation, chosen once, so that all systems are measured on the same.

The test split holds speakers that are in no training set, and the parallel sentences of the target
voices. The split ``all`` takes every row of whichever corpora a folder holds. Larger sets are
sampled with a fixed seed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import numpy as np

from earshot.media.constants import HOP_LENGTH
from earshot.media.text.grammar import DIGITS, grid_phones
from training.common.corpora import Item, sentence_only, speech_items, waveforms
from training.judges.abx import PhoneItem
from training.judges.sphinx import FRAME, Sphinx, Word

GRID_TRAINING_SPEAKERS: Final = ("S1", "s4", "s26", "s31", "s11")
MIN_PHONE: Final = 5  # frames; shorter ones are mostly errors of alignment
SEED: Final = 0

T = TypeVar("T")
Key = TypeVar("Key")


@dataclass(frozen=True)
class Budget:
    """The size of an evaluation; the words, tokens and digits are those of each speaker."""

    abx_speakers: int = 24
    abx_words: int = 40
    abx_tokens: int = 8  # of each phone
    parallel: int = 6  # sentences for each ordered pair of voices
    sentences: int = 60  # by unseen speakers
    seen_sentences: int = 20  # by training speakers
    digits: int = 6  # of each digit
    voices: int = 2  # target voices that each recording is converted to, in turn


QUICK: Final = Budget(
    abx_speakers=8,
    abx_words=16,
    abx_tokens=4,
    parallel=1,
    sentences=8,
    seen_sentences=4,
    digits=2,
    voices=1,
)


@dataclass(frozen=True)
class Utterance:
    """A recording with its words; seen: whether its speaker is in the training set of the units."""

    waveform: np.ndarray
    words: list[str]
    seen: bool = False


@dataclass(frozen=True)
class Pair:
    """One sentence by two speakers of npvcc2016."""

    source: str
    target: str
    source_waveform: np.ndarray
    target_waveform: np.ndarray


@dataclass(frozen=True)
class TestSet:
    """The recordings that the systems are measured on. Empty where the corpus is not there."""

    abx_waveforms: list[np.ndarray]
    abx_items: list[PhoneItem]
    pairs: list[Pair]
    speakers: dict[str, list[np.ndarray]]  # npvcc2016 recordings by speaker, for their mean
    sentences: list[Utterance]  # GRID
    digits: list[Utterance]


def choose(data: Path, split: str, budget: Budget) -> TestSet:
    """Choose the recordings of a split, ``test`` or ``all``, in a folder laid out as the data
    folder.
    """
    every = speech_items(data)
    chosen = every if split == "all" else [item for item in every if item.split == "test"]
    trained = set() if split == "all" else {i.speaker for i in every if i.split == "train"}
    rng = np.random.default_rng(SEED)
    unseen = [item for item in chosen if item.speaker not in trained]
    abx_waveforms, abx_items = _abx(unseen, budget, rng)
    pairs, speakers = _parallel([i for i in chosen if i.corpus == "npvcc2016"], budget, rng)
    return TestSet(
        abx_waveforms,
        abx_items,
        pairs,
        speakers,
        _sentences([i for i in chosen if i.corpus == "grid" and i.text], budget, rng),
        _digits([i for i in unseen if i.corpus == "free_spoken_digits"], budget, rng),
    )


def _abx(
    items: list[Item], budget: Budget, rng: np.random.Generator
) -> tuple[list[np.ndarray], list[PhoneItem]]:
    """Align phones of English words and GRID sentences by named speakers with pocketsphinx.

    The speakers with most recordings; of each, ``abx_words`` recordings, and of these at most
    ``abx_tokens`` of each phone, 50 ms or longer, in whatever context they are found.
    """
    labelled = [i for i in items if i.speaker and i.language == "en" and _words(i)]
    counts = _grouped(labelled, lambda item: str(item.speaker))
    richest = sorted(counts, key=lambda name: (-min(len(counts[name]), budget.abx_words), name))
    words = [
        item
        for name in richest[: budget.abx_speakers]
        for item in _sample(counts[name], budget.abx_words, rng)
    ]
    sphinx = Sphinx(word for item in words for word in _words(item))
    recordings: list[np.ndarray] = []
    phones: list[PhoneItem] = []
    for item, waveform in waveforms(_in_file_order(words)):
        for segment in sphinx.align(waveform, _words(item)):
            first, last = round(segment.start / FRAME), round(segment.end / FRAME)
            last = min(last, len(waveform) // HOP_LENGTH)
            if first >= 0 and last - first >= MIN_PHONE:
                phones.append(
                    PhoneItem(segment.phone, str(item.speaker), len(recordings), first, last)
                )
        recordings.append(waveform)
    cells = _grouped(phones, lambda phone: (phone.speaker, phone.phone))
    sampled = [p for cell in sorted(cells) for p in _sample(cells[cell], budget.abx_tokens, rng)]
    return recordings, sampled


def _words(item: Item) -> list[Word]:
    """List the words of an item with their phones; none where they are not labelled."""
    if item.corpus == "grid" and item.text:
        return list(zip(item.text.split(), grid_phones(item.text), strict=True))
    return [(item.text, item.phones)] if item.phones else []


def _parallel(
    items: list[Item], budget: Budget, rng: np.random.Generator
) -> tuple[list[Pair], dict[str, list[np.ndarray]]]:
    """Pair speakers, in both orders, by sentences that both read."""
    spoken: dict[str, dict[str, np.ndarray]] = defaultdict(dict)
    for item, waveform in waveforms(items):
        spoken[str(item.speaker)][item.sentence] = waveform
    pairs = []
    for source in sorted(spoken):
        for target in sorted(set(spoken) - {source}):
            common = sorted(set(spoken[source]) & set(spoken[target]))
            pairs += [
                Pair(source, target, spoken[source][sentence], spoken[target][sentence])
                for sentence in _sample(common, budget.parallel, rng)
            ]
    speakers = {name: list(sentences.values()) for name, sentences in spoken.items()}
    return pairs, speakers


def _sentences(items: list[Item], budget: Budget, rng: np.random.Generator) -> list[Utterance]:
    seen = [item for item in items if item.speaker in GRID_TRAINING_SPEAKERS]
    unseen = [item for item in items if item.speaker not in GRID_TRAINING_SPEAKERS]
    chosen = _sample(unseen, budget.sentences, rng) + _sample(seen, budget.seen_sentences, rng)
    return [
        Utterance(
            sentence_only(item, waveform),
            item.text.split(),
            item.speaker in GRID_TRAINING_SPEAKERS,
        )
        for item, waveform in waveforms(chosen)
    ]


def _digits(items: list[Item], budget: Budget, rng: np.random.Generator) -> list[Utterance]:
    """Choose the same number of every digit, by any speaker."""
    groups = _grouped(items, lambda item: item.text)
    chosen = [i for digit in DIGITS for i in _sample(groups[digit], budget.digits, rng)]
    return [Utterance(w, [item.text]) for item, w in waveforms(_in_file_order(chosen))]


def _grouped(values: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    groups: dict[Key, list[T]] = defaultdict(list)
    for value in values:
        groups[key(value)].append(value)
    return groups


def _in_file_order(items: list[Item]) -> list[Item]:
    return sorted(items, key=lambda item: (str(item.path), item.start))


def _sample(values: list[T], size: int, rng: np.random.Generator) -> list[T]:
    """Sample ``size`` of the values in their order, or all where there are fewer."""
    if len(values) <= size:
        return values
    return [values[i] for i in sorted(rng.choice(len(values), size, replace=False))]
