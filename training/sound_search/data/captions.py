"""Many captions for every kind and every mixture of two: written, borrowed and made by templates.

The uploaders' titles and AudioCaps' wording are read from the data; the rest is captions.json.
"""

import csv
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training.sound_search.data.corpus import kinds, mentioned

BORROWED = 120  # AudioCaps captions of one kind, at most
PAIRS = 12_000  # captions of mixtures made by templates
ONE = (
    "{name}", "the sound of {name}", "a recording of {name}", "{name} outdoors", "{name} nearby",
    "{event}", "{event} in the distance", "i hear how {event}", "{event} again and again",
)  # fmt: skip
AT_ONCE = (
    "{a} while {b}", "{a} and {b}", "{a} as {b}", "{a}, with {name_b} in the background",
    "{name_a} and {name_b}", "{name_a} with {name_b}", "both {name_a} and {name_b}",
)  # fmt: skip
IN_TURN = (
    "{a}, then {b}", "{a} followed by {name_b}", "first {name_a}, then {name_b}",
    "{name_a}, then {name_b}", "{b} after {name_a}",
)  # fmt: skip


@dataclass
class Captions:
    """Texts, and by their numbers: of one kind (written or borrowed), of two kinds at once or in
    turn, and of single clips."""

    texts: list[str] = field(default_factory=list)
    written: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    borrowed: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    pairs: list[tuple[str, str, bool, int]] = field(default_factory=list)  # bool: in turn
    own: dict[str, int] = field(default_factory=dict)

    def add(self, text: str) -> int:
        """The text's number."""
        self.texts.append(text)
        return len(self.texts) - 1

    def table(self) -> dict[str, Any]:
        """All but the texts, which training does not read."""
        return {
            "written": self.written,
            "borrowed": self.borrowed,
            "pairs": self.pairs,
            "own": self.own,
        }


def describe(data: Path, clips: Iterable[Mapping[str, Any]]) -> Captions:
    """The captions of all kinds in captions.json and of the clips."""
    captions = Captions()
    for kind, entry in kinds().items():
        templates = [template.format(**entry) for template in ONE]
        captions.written[kind] = [captions.add(text) for text in [*entry["texts"], *templates]]
    for clip in clips:
        for text in clip["captions"]:
            if text not in captions.own:
                captions.own[text] = captions.add(text)
    _borrow(data, captions)
    _mix(captions)
    return captions


def _borrow(data: Path, captions: Captions) -> None:
    """AudioCaps captions of the training split that speak of one kind, or of two, and no more."""
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
        if len(named) == 1 and len(captions.borrowed[named[0]]) < BORROWED:
            captions.borrowed[named[0]].append(captions.add(text))
        elif len(named) == 2:
            captions.pairs.append((named[0], named[1], False, captions.add(text)))


def _mix(captions: Captions) -> None:
    chooser = random.Random(0)
    entries = kinds()
    for number in range(PAIRS):
        a, b = chooser.sample(sorted(entries), 2)
        in_turn = number % 3 == 0
        template = chooser.choice(IN_TURN if in_turn else AT_ONCE)
        text = template.format(
            a=entries[a]["event"],
            b=entries[b]["event"],
            name_a=entries[a]["name"],
            name_b=entries[b]["name"],
        )
        captions.pairs.append((a, b, in_turn, captions.add(text)))
