"""What a listening test is: its design, scale, systems and trials. Nothing is read or written here.

Sources: ITU-T P.800 (ACR, DCR, CCR), ITU-R BS.1534-3 (MUSHRA), and the Voice Conversion Challenges
(similarity).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal, get_args

from earshot.study.design.panel import Panel
from earshot.study.design.questions import Question
from earshot.study.design.rules import Rules
from earshot.study.design.texts import Texts, unwritten

Design = Literal["acr", "ccr", "dcr", "ab", "abx", "mushra", "similarity"]
Pairing = Literal["balanced", "adaptive"]
Kind = Literal["trial", "practice", "attention", "gold"]
# What a rater's page sends: a value of the scale, or in MUSHRA one from 0 to 100 for each position.
Answer = int | str | list[int]

DESIGNS: tuple[Design, ...] = get_args(Design)
PAIRED: tuple[Design, ...] = ("ccr", "ab", "abx")  # two systems in a trial
REFERENCED: tuple[Design, ...] = ("dcr", "mushra", "similarity")  # an open reference in a trial

REFERENCE = "reference"  # as a system: MUSHRA's hidden one, or what paired systems are held against
ANCHORS = {"anchor-3.5k": 3500.0, "anchor-7k": 7000.0}  # MUSHRA's, low-pass filtered at so many Hz
MAX_CONDITIONS = 12  # in a MUSHRA trial, with hidden reference and anchors

UNDRAWN = -1  # as the trial of an item: the one to ask is chosen later

# The answers of a design from best to worst (or left to right) with their words. MUSHRA's are the
# upper ends of its five intervals. CCR is the second sound compared with the first.
SCALES: Mapping[Design, tuple[tuple[int | str, str], ...]] = {
    "acr": ((5, "Excellent"), (4, "Good"), (3, "Fair"), (2, "Poor"), (1, "Bad")),
    "dcr": (
        (5, "Degradation is inaudible"),
        (4, "Degradation is audible but not annoying"),
        (3, "Degradation is slightly annoying"),
        (2, "Degradation is annoying"),
        (1, "Degradation is very annoying"),
    ),
    "ccr": (
        (3, "Much better"),
        (2, "Better"),
        (1, "Slightly better"),
        (0, "About the same"),
        (-1, "Slightly worse"),
        (-2, "Worse"),
        (-3, "Much worse"),
    ),
    "ab": (("a", "A"), ("same", "No preference"), ("b", "B")),
    "abx": (("a", "A"), ("b", "B")),
    "mushra": ((100, "Excellent"), (80, "Good"), (60, "Fair"), (40, "Poor"), (20, "Bad")),
    "similarity": (
        (1, "Same, absolutely sure"),
        (2, "Same, not sure"),
        (3, "Different, not sure"),
        (4, "Different, absolutely sure"),
    ),
}

QUESTIONS: Mapping[Design, str] = {
    "acr": "How good is the quality of what you hear?",
    "dcr": "How does the second recording compare with the first?",
    "ccr": "How is the quality of B compared with A?",
    "ab": "Which one do you prefer?",
    "abx": "Is X the same as A or as B?",
    "mushra": "How good is each recording compared with the reference?",
    "similarity": "Were both recordings spoken by the same person?",
}


UNREFERENCED = "How good is the quality of each recording?"  # MUSHRA's, where none is mentioned


@dataclass(frozen=True)
class Trial:
    """What may be asked: sounds, a file by system, of one stimulus.

    id is its place in Test.trials. One sound in acr, dcr and similarity; two in ccr, ab and abx;
    every condition in mushra. reference is the open one, None where the test has none. expected
    is the tidy answer (see storage.answers.rows) that the first of the sounds should get in
    attention checks and gold trials, give or take tolerance; in practice, the one that raters are
    told after theirs. None elsewhere.
    """

    id: int
    stimulus: str
    sounds: Mapping[str, Path]
    reference: Path | None = None
    kind: Kind = "trial"
    expected: float | None = None
    tolerance: float = 0.0


@dataclass(frozen=True)
class Item:
    """A place in one rater's sequence: a trial, and which system is shown at which position.

    In abx a third position follows: X, which is one of the two. trial is UNDRAWN, and shown empty,
    where it is still to be chosen.
    """

    order: int
    trial: int
    shown: tuple[str, ...]


@dataclass(frozen=True)
class Test:
    """A listening test, as earshot.study.design.spec.load reads it.

    name is the one in links and tables. systems are those under test; conditions also counts a
    reference they are compared with and MUSHRA's anchors. words are the scale's, in the order of
    scale. trials holds the scored ones first, then practice, attention and gold; every rater is
    asked trials_per_rater of the scored ones and all others. loudness is in LUFS, None: as it is.
    invited: whether raters need a link of their own (see earshot.study.invitations).
    raters: how many may finish, None: any number; closes: when no rating is taken any more.
    agree: what raters tick before they begin; approval: an ethics committee's, in words. strict:
    whether MUSHRA's sounds of a trial last equally long, so that a switch keeps the position.
    texts: in further languages than the test's own. rules: whose ratings are left out. pairing:
    whether every trial is asked equally often, or in ab the next pair chosen by what the votes so
    far leave unknown. source: what its
    ratings were collected with, where it was not us (study.imports).
    """

    __test__: ClassVar[bool] = False  # it is no test of pytest's

    name: str
    title: str
    design: Design
    systems: tuple[str, ...]
    trials: tuple[Trial, ...]
    trials_per_rater: int
    folder: Path
    question: str
    words: tuple[str, ...]
    instructions: str = ""
    consent: str = ""
    language: str = "en"
    no_preference: bool = True
    loudness: float | None = None
    seed: int = 0
    invited: bool = False
    panel: Panel = Panel()
    raters: int | None = None
    closes: datetime | None = None
    pairing: Pairing = "balanced"
    questions: tuple[Question, ...] = ()
    rules: Rules = Rules()
    texts: Mapping[str, Texts] = field(default_factory=dict)
    agree: tuple[str, ...] = ()
    approval: str = ""
    strict: bool = True
    source: str = ""

    def of_kind(self, kind: Kind) -> tuple[Trial, ...]:
        """The trials of one kind."""
        return self._by_kind.get(kind, ())

    @cached_property
    def _by_kind(self) -> dict[Kind, tuple[Trial, ...]]:
        return {
            kind: tuple(trial for trial in self.trials if trial.kind == kind)
            for kind in get_args(Kind)
        }

    @property
    def asked(self) -> int:
        """How many trials a rater is asked, practice left out."""
        others = len(self.of_kind("attention")) + len(self.of_kind("gold"))
        return self.trials_per_rater + others

    @property
    def scale(self) -> tuple[tuple[int | str, str], ...]:
        """Answers and their words, as in SCALES."""
        values = [
            value for value, _ in SCALES[self.design] if self.no_preference or value != "same"
        ]
        return tuple(zip(values, self.words, strict=True))

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        """Every name that a sound of a scored trial has: systems, then reference and anchors."""
        return tuple(dict.fromkeys(name for t in self.of_kind("trial") for name in t.sounds))

    @property
    def referenced(self) -> bool:
        """Whether raters hear an open reference."""
        return any(trial.reference is not None for trial in self.trials)

    @property
    def unwritten(self) -> list[str]:
        """What the organiser still has to write before the test can open, a sentence each."""
        return unwritten([self.consent, *(texts.consent for texts in self.texts.values())])

    @property
    def fingerprint(self) -> str:
        """Changes with anything that would make answers mean something else; texts may change."""
        trials = [(t.stimulus, list(t.sounds), t.kind, t.expected) for t in self.trials]
        more = [] if self.referenced or self.design not in REFERENCED else ["no open reference"]
        content = json.dumps([self.design, trials, *more])
        return hashlib.sha256(content.encode()).hexdigest()
