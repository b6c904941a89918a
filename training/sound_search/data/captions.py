"""Captions of every kind of sound and of mixtures: written, from AudioCaps, and from templates.

The uploaders' titles and AudioCaps' captions are read from the data folder, the others from
captions.json.
"""

import csv
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training.sound_search.data.categories import phrases
from training.sound_search.data.corpus import kinds, mentioned

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
