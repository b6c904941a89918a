"""The model of a listening test: its design, systems and trials, and how trials are made of the
files of its systems. Nothing is read or written here.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, get_args

from earshot.study.design.designs import ANCHORS, REFERENCE, SAME, Design, Labels, Scale
from earshot.study.design.raters import Blocks, HeadphoneCheck, Panel, Question, RoomTest, Rules
from earshot.study.design.scales import Texts, by_checks, unwritten

Pairing = Literal["balanced", "adaptive"]
Disclosure = Literal["before", "after"]  # the test
Kind = Literal["trial", "practice", "attention", "gold"]

CHECKS: Final = ("attention", "gold")  # the kinds whose answer is known
UNDRAWN: Final = -1  # as the trial of an item: the one to ask is chosen later
MAX_TRIALS: Final = 5000  # in a test
MAX_TRIALS_PER_RATER: Final = 300  # with practice and checks: two hours and more
PREPARED: Final = "prepared"  # the folder next to a test's file for what is made from its sounds


@dataclass(frozen=True)
class Trial:
    """A trial that may be asked: sounds, a file by system, of one stimulus.

    id is its place in Test.trials. One sound in acr, dcr and similarity; two in ccr, ab and abx;
    every condition in mushra. reference is the open one, None where the test has none. expected
    is the tidy answer (see storage.answers.rows) that the first of the sounds should get in
    attention checks and gold trials, give or take tolerance; in practice, the one that raters are
    shown after theirs. None elsewhere.
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
    """A place in one rater's sequence: a trial, and its systems by position.

    In abx a third position follows: X, which is one of the two. trial is UNDRAWN, and systems is
    empty, where it is still to be chosen.
    """

    order: int
    trial: int
    systems: tuple[str, ...]


@dataclass(frozen=True)
class Staircase:
    """A staircase: a rater's next level depends on their answers. levels: of each system, from the
    easiest to tell from the reference, where everybody begins, to the hardest; unit: of them.
    down: after so many right answers in a row the next level is harder, after each wrong one it is
    easier.
    """

    levels: Mapping[str, float]
    unit: str = ""
    down: int = 2

    @property
    def decimals(self) -> int:
        """Return the decimals of what lies between levels: one more than they have themselves."""
        levels = [Decimal(f"{level:.6g}").normalize() for level in self.levels.values() if level]
        return max(0, 1 - min(int(level.as_tuple().exponent) for level in levels))

    @property
    def sign(self) -> int:
        """Return 1 where a higher level is easier, else −1."""
        first, *_, last = self.levels.values()
        return 1 if first > last else -1

    def next_level(self, answers: Iterable[bool]) -> str:
        """Return the system to ask for after a rater's answers so far, True for a right one."""
        at, row, names = 0, 0, [*self.levels]
        for right in answers:
            row = row + 1 if right else 0
            if row == self.down:
                at, row = min(at + 1, len(names) - 1), 0
            elif not right:
                at = max(at - 1, 0)
        return names[at]


@dataclass(frozen=True)
class Test:
    """A listening test, as earshot.study.design.spec.load reads it.

    name is the one in links and tables. systems are those under test; conditions also counts a
    reference they are compared with and MUSHRA's anchors. words are the scale's, in the order of
    scale. trials holds the scored ones first, then practice, attention and gold; every rater is
    asked trials_per_rater of the scored ones and all others. loudness is in LUFS, None: as it is.
    invited: whether raters need a link of their own (see earshot.study.rater_links).
    raters: how many may finish, None: any number; closes: when no rating is taken any more.
    agree: what raters tick before they begin; approval: an ethics committee's, in words. strict:
    whether MUSHRA's sounds of a trial last equally long, so that a switch keeps the position.
    texts: in further languages than the test's own. rules: whose ratings are left out. pairing:
    whether every trial is asked equally often, or in ab the next pair chosen by what the votes so
    far leave unknown. scales: those of a trial, where they are others than the design's own (see
    rated). comment: whether raters may write one on every trial. sentences: what is said, by
    stimulus; show_sentence: whether raters read it. environment: the test of a rater's room, None:
    there is none. break_every: after how many trials raters are asked to rest. blocks: whether a
    rater gets the trials of each system, or pair, one after the other. disclosed_after: whether
    raters are told after the test, and not before, that voices may be synthetic. statements: what
    only its authors know, by name (earshot.study.design.statements). guidelines: what
    raters read while they judge, by scale (earshot.study.design.scales). faults: what they may tick
    of each sound. headphones: how theirs are checked, None: as usual. show_others: whether raters
    see at the end how their answers lie among others'. staircase: where the level of the next trial
    depends on the answers. gain: where raters set the level of a sound, the ends of it in dB.
    source: what its ratings were collected
    with, where it was not us (earshot.study.imports). recordings: what is known of its sounds,
    where they are not here (earshot.study.reproduction).
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
    scales: tuple[Scale, ...] = ()
    comment: bool = False
    sentences: Mapping[str, str] = field(default_factory=dict)
    show_sentence: bool = False
    environment: RoomTest | None = None
    break_every: int | None = None
    blocks: Blocks | None = None
    disclosed_after: bool = False
    statements: Mapping[str, str] = field(default_factory=dict)
    guidelines: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    headphones: HeadphoneCheck | None = None
    show_others: bool = False
    staircase: Staircase | None = None
    gain: tuple[int, int] | None = None
    source: str = ""
    recordings: str = ""

    def __getstate__(self) -> dict[str, Any]:
        """Return a copy of what it holds: others may compute a property of it while it is sent to
        the process that makes reports.
        """
        return dict(vars(self))

    def of_kind(self, kind: Kind) -> tuple[Trial, ...]:
        """Return the trials of one kind."""
        return self._by_kind.get(kind, ())

    @cached_property
    def _by_kind(self) -> dict[Kind, tuple[Trial, ...]]:
        return {
            kind: tuple(trial for trial in self.trials if trial.kind == kind)
            for kind in get_args(Kind)
        }

    @property
    def trial_count(self) -> int:
        """Return how many trials a rater is asked, practice left out."""
        others = len(self.of_kind("attention")) + len(self.of_kind("gold"))
        return self.trials_per_rater + others

    @property
    def scale(self) -> Labels:
        """Return the answers and their words."""
        answers = self.design.scale.answers
        values = [value for value, _ in answers if self.no_preference or value != SAME]
        return tuple(zip(values, self.words, strict=True))

    @cached_property
    def rated(self) -> tuple[Scale, ...]:
        """Return the scales that a rater answers on every trial."""
        own = self.design.scale
        own = replace(own, name=self.design.name, question=self.question, answers=self.scale)
        return self.scales or (own,)

    @property
    def by_name(self) -> bool:
        """Whether the answers of a trial are by the name of their scale."""
        return bool(self.scales or self.faults) or self.comment

    @cached_property
    def checked(self) -> Scale:
        """Return the scale on which checks expect their answer: the first that has numbers."""
        return next(by_checks(self.rated))

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        """Return every name that a sound of a scored trial has: systems, then reference and
        anchors.
        """
        return tuple(dict.fromkeys(name for t in self.of_kind("trial") for name in t.sounds))

    @property
    def referenced(self) -> bool:
        """Whether raters hear an open reference."""
        return any(trial.reference is not None for trial in self.trials)

    @property
    def has_reference(self) -> bool:
        """Whether raters hear a reference, openly or not."""
        return self.referenced or REFERENCE in self.conditions

    @property
    def draws_late(self) -> bool:
        """Whether a rater's trials are drawn one after the other, by the answers so far."""
        return self.pairing == "adaptive" or self.staircase is not None

    @property
    def unwritten(self) -> list[str]:
        """Return what the organiser still has to write before the test opens, a sentence each."""
        return unwritten([self.consent, *(texts.consent for texts in self.texts.values())])

    @property
    def fingerprint(self) -> str:
        """Return a hash of all that answers mean something by, which most texts are not."""
        trials = [(t.stimulus, list(t.sounds), t.kind, t.expected) for t in self.trials]
        more: list[object] = (
            ["no open reference"] if self.design.referenced and not self.referenced else []
        )
        more += [[scale.name, len(scale.answers)] for scale in self.scales]
        # Ticked faults are stored by their places in the list.
        more += [["faults", *self.faults]] if self.faults else []
        if staircase := self.staircase:
            more += [["staircase", *staircase.levels, staircase.down]]
        more += [["gain", *self.gain]] if self.gain else []
        content = json.dumps([self.design.name, trials, *more])
        return hashlib.sha256(content.encode()).hexdigest()


def prepared_path(folder: Path, role: str, source: Path) -> Path:
    """Return the path of the copy of source for a role, as of an anchor, in the folder's test."""
    name = hashlib.sha256(f"{role}/{source.relative_to(folder)}".encode()).hexdigest()[:16]
    return folder / PREPARED / f"{name}.wav"


def make_trials(
    design: Design,
    folder: Path,
    stimulus: str,
    systems: Mapping[str, Path],
    reference: Path | None,
    anchors: Iterable[str] = ANCHORS,
    mentioned: bool = True,
) -> list[Trial]:
    """Make all trials of one stimulus, a file by system; number_trials gives them their ids.

    anchors: those that are made from the reference where it is hidden; mentioned: whether raters
    hear it openly, in a design in which they may.
    """
    low = {name: prepared_path(folder, name, reference) for name in anchors} if reference else {}
    open_reference = reference if design.referenced and mentioned else None
    groups = design.groups(systems, reference, low)
    return [Trial(0, stimulus, sounds, open_reference) for sounds in groups]


def number_trials(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Return the trials with their places as ids."""
    return tuple(replace(trial, id=number) for number, trial in enumerate(trials))
