"""The training clips: recordings of the data folder, speech among them, renditions of our own
library, and plain noise; and captions of every kind of sound and of mixtures: written, from
AudioCaps, and from templates.

The uploaders' titles and AudioCaps' captions are read from the data folder, the others from
captions.json.
"""

import csv
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from earshot.media.audio.load import load
from earshot.media.audio.sound_features import SAMPLE_RATE
from synthetic.sounds import RECIPES, render
from training.common.corpora import Item, speech_items
from training.common.sounds import ESC50, OUTSIDE_FOLDS, sound_files
from training.sound_search.effects import phrases

CAPTION_TEXTS = Path(__file__).parent / "captions.json"
N_UNSEEN = 10  # kinds of ESC-50
SPEAKERS = 200  # of speech, one utterance each
SPEECH = "speech"  # the kind of these
MAX_SPEECH = 10  # seconds of an utterance
MAX_FILE = 3600.0  # seconds of a recording that holds utterances
NOISE = "radio_static"  # the kind of plain noise
N_NOISES = 40
NOISE_SECONDS = (1.0, 8.0)
NOISE_TILT = (-0.2, 1.2)  # the power of the frequency by which amplitudes are divided: .5 is pink
NOISE_BAND = (30.0, 4_000.0)  # Hz: where it begins, and the lowest frequency at which it may end
NOISE_PEAK = (0.05, 0.9)
RENDITIONS = 4  # of each recipe of the library; that of the demo has seed 0
MAX_AUDIOCAPS = 120  # captions of one kind
PAIRS = 12_000  # captions of mixtures from templates
ONE = (
    "{name}", "the sound of {name}", "a recording of {name}", "{name} outdoors", "{name} nearby",
    "{event}", "{event} in the distance", "i hear how {event}", "{event} again and again",
)  # fmt: skip
SIMULTANEOUS = (
    "{a} while {b}", "{a} and {b}", "{a} as {b}", "{a}, with {name_b} in the background",
    "{name_a} and {name_b}", "{name_a} with {name_b}", "both {name_a} and {name_b}",
)  # fmt: skip
IN_SEQUENCE = (
    "{a}, then {b}", "{a} followed by {name_b}", "first {name_a}, then {name_b}",
    "{name_a}, then {name_b}", "{b} after {name_a}",
)  # fmt: skip


@dataclass(frozen=True)
class Clip:
    """One sound with its kind, its own captions, and its fold."""

    kind: str
    fold: int
    captions: tuple[str, ...]
    corpus: str  # "" of what we render
    # a file, an utterance, a recipe's number and its seed, or the seed of a noise
    source: Path | Item | tuple[int, int] | int

    def waveform(self, sample_rate: int = SAMPLE_RATE) -> np.ndarray:
        """Load the sound at a rate, or render it, at SAMPLE_RATE: (T,)."""
        if isinstance(self.source, tuple):
            recipe, seed = self.source
            return render(RECIPES[recipe], seed)
        if isinstance(self.source, int):
            return noise(self.source)
        if isinstance(self.source, Item):
            return spoken(self.source, sample_rate)
        return load(self.source, sample_rate).waveform


@cache
def texts() -> dict[str, Any]:
    """Read captions.json: for each kind a name, an event, texts, and patterns for AudioCaps."""
    return json.loads(CAPTION_TEXTS.read_text())


def kinds() -> dict[str, Any]:
    """Read the kinds of captions.json."""
    return {kind: entry for kind, entry in texts().items() if kind != "other_sources"}


def mentioned(caption: str) -> list[str]:
    """List every kind, and every source without a kind, that a caption mentions."""
    return [kind for kind, pattern in _patterns().items() if pattern.search(caption)]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    sources: dict[str, list[str]] = {kind: entry["audiocaps"] for kind, entry in kinds().items()}
    sources |= {f"other: {name}": value for name, value in texts()["other_sources"].items()}
    return {
        kind: re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
        for kind, patterns in sources.items()
        if patterns
    }


def real_clips(data: Path) -> Iterator[Clip]:
    """Yield every recorded clip. The kind of one outside ESC-50 is the one that its label mentions,
    or else the label itself."""
    for file in sound_files(data):
        title = _title(file.title)
        if file.corpus == ESC50:
            kind, captions = file.label, [title]
        else:
            named = [kind for kind in mentioned(file.label) if kind in kinds()]
            kind = named[0] if len(named) == 1 else _slug(file.label)
            captions = [file.label, title]
        yield Clip(kind, file.fold, tuple(filter(None, captions)), file.corpus, file.path)


def speech_clips(data: Path) -> Iterator[Clip]:
    """Yield an utterance or a word each of SPEAKERS training speakers, who are drawn by a seed. No
    corpus of sounds has people who just speak."""
    training = [item for item in speech_items(data) if item.split == "train"]
    first = {(item.corpus, item.speaker): item for item in reversed(training)}
    speakers = sorted(first, key=lambda speaker: (speaker[0], str(speaker[1])))
    drawn = np.random.default_rng(0).permutation(len(speakers))[:SPEAKERS]
    for number in np.sort(drawn).tolist():
        yield Clip(SPEECH, OUTSIDE_FOLDS, (), speakers[number][0], first[speakers[number]])


def spoken(item: Item, sample_rate: int) -> np.ndarray:
    """Read an utterance at a rate, its first MAX_SPEECH if it is longer: (T,)."""
    whole = load(item.path, sample_rate, MAX_FILE, min_seconds=0.0).waveform
    begin = round(item.start * sample_rate)
    end = len(whole) if item.end is None else round(item.end * sample_rate)
    return whole[begin : min(end, begin + MAX_SPEECH * sample_rate)]


def noise_clips() -> Iterator[Clip]:
    """Yield N_NOISES plain noises. Folders of one's own hold noise, corpora of sounds do not."""
    for seed in range(N_NOISES):
        yield Clip(NOISE, OUTSIDE_FOLDS, (), "", seed)


def noise(seed: int) -> np.ndarray:
    """Make a noise of a length, tilt, band and level that a seed draws, at SAMPLE_RATE: (T,)."""
    rng = np.random.default_rng(seed)
    length = round(SAMPLE_RATE * rng.uniform(*NOISE_SECONDS))
    spectrum = np.fft.rfft(rng.standard_normal(length))
    frequencies = np.fft.rfftfreq(length, 1 / SAMPLE_RATE)
    bottom, lowest_top = NOISE_BAND
    spectrum /= np.maximum(frequencies, bottom) ** rng.uniform(*NOISE_TILT)
    top = np.exp(rng.uniform(*np.log([lowest_top, SAMPLE_RATE / 2])))
    spectrum[(frequencies < bottom) | (frequencies > top)] = 0
    wave = np.fft.irfft(spectrum, length)
    return (rng.uniform(*NOISE_PEAK) * wave / np.abs(wave).max()).astype(np.float32)


def synthetic_clips() -> Iterator[Clip]:
    """Yield RENDITIONS of every recipe, among them seed 0: the library that the demo searches."""
    for number, recipe in enumerate(RECIPES):
        for seed in range(RENDITIONS):
            yield Clip(recipe.kind, OUTSIDE_FOLDS, recipe.captions, "", (number, seed))


def unseen_kinds(kinds_of: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Draw the kinds that a network for the measure of unseen kinds is not trained on: N_UNSEEN of
    ESC-50's, by a seed, and every kind of the other recordings that ESC-50 lacks.

    kinds_of: corpus and kind of every recording.
    """
    pairs = set(kinds_of)
    esc50 = sorted(kind for corpus, kind in pairs if corpus == ESC50)
    order = np.random.default_rng(0).permutation(len(esc50))
    drawn = {esc50[number] for number in order[:N_UNSEEN]}
    return frozenset(drawn | {kind for corpus, kind in pairs if corpus and kind not in esc50})


def _title(title: str) -> str:
    """Write an uploader's title as words, without file extensions, numbers and separators."""
    words = re.sub(r"\(freesound \d+\)|\.(wav|aiff?|mp3|flac|ogg)\b", " ", title, flags=re.I)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z']+", " ", words)
    long_words = [word for word in words.lower().split() if len(word) > 2]
    return " ".join(long_words[:8])


def _slug(label: str) -> str:
    return re.sub(r"[^a-z]+", "_", label.lower()).strip("_")


@dataclass
class Captions:
    """Texts, and the numbers of those for one kind (written, or from AudioCaps), for two kinds
    (simultaneous or in sequence), for single clips (own), and of phrases for categories."""

    texts: list[str] = field(default_factory=list)
    written: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    audiocaps: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    pairs: list[tuple[str, str, bool, int]] = field(default_factory=list)  # bool: in sequence
    own: dict[str, int] = field(default_factory=dict)
    phrases: list[int] = field(default_factory=list)

    def add(self, text: str) -> int:
        """Add a text, and give it a number."""
        self.texts.append(text)
        return len(self.texts) - 1

    def table(self) -> dict[str, Any]:
        """List everything but the texts, of which training needs the vectors only."""
        return {
            "written": self.written,
            "audiocaps": self.audiocaps,
            "pairs": self.pairs,
            "own": self.own,
            "phrases": self.phrases,
        }


def describe(data: Path, clips: Iterable[Mapping[str, Any]]) -> Captions:
    """Collect the captions of all kinds in captions.json and of the clips."""
    captions = Captions()
    for kind, entry in kinds().items():
        templates = [template.format(**entry) for template in ONE]
        captions.written[kind] = [captions.add(text) for text in [*entry["texts"], *templates]]
    for clip in clips:
        for text in clip["captions"]:
            if text not in captions.own:
                captions.own[text] = captions.add(text)
    _add_audiocaps(data, captions)
    _mix(captions)
    captions.phrases = [captions.add(text) for _, text in phrases()]
    return captions


def _add_audiocaps(data: Path, captions: Captions) -> None:
    """Add AudioCaps captions of the training split that mention exactly one kind, or two."""
    path = data / "sounds/captions/audiocaps.csv"
    if not path.exists():
        return
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row["caption"] for row in csv.DictReader(file) if row["split"] == "train"]
    random.Random(0).shuffle(rows)
    for text in rows:
        named = mentioned(text)
        if not named or any(name.startswith("other: ") for name in named):
            continue
        if len(named) == 1 and len(captions.audiocaps[named[0]]) < MAX_AUDIOCAPS:
            captions.audiocaps[named[0]].append(captions.add(text))
        elif len(named) == 2:
            captions.pairs.append((named[0], named[1], False, captions.add(text)))


def _mix(captions: Captions) -> None:
    chooser = random.Random(0)
    entries = kinds()
    for number in range(PAIRS):
        a, b = chooser.sample(sorted(entries), 2)
        in_sequence = number % 3 == 0
        template = chooser.choice(IN_SEQUENCE if in_sequence else SIMULTANEOUS)
        text = template.format(
            a=entries[a]["event"],
            b=entries[b]["event"],
            name_a=entries[a]["name"],
            name_b=entries[b]["name"],
        )
        captions.pairs.append((a, b, in_sequence, captions.add(text)))
