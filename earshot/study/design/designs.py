"""The designs of listening tests: one object says all that is particular to one, from what raters
are asked to how the answers are counted. A new design is a new object in DESIGNS.

More than 400 lines, for all designs, and what they are made of, are one place to look at.

Sources: ITU-T P.800 (ACR, DCR, CCR), ITU-R BS.1534-3 (MUSHRA), and the Voice Conversion Challenges
(similarity).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar, Final, Literal, TypeVar

import numpy as np
from numpy.random import Generator

# What a rater's page sends: a value of the scale, or in MUSHRA one from 0 to 100 for each position.
One = int | str | list[int]
# The answers of a test with several scales, or with comments, are by name.
Answer = One | dict[str, One]
Level = Literal["nominal", "ordinal", "interval"]
Labels = tuple[tuple[int | str, str], ...]
Order = Sequence[str]  # the systems of a trial by position
Sound = TypeVar("Sound")  # of a system, whatever stands for it

REFERENCE: Final = "reference"  # as a system: the hidden one, or what pairs are held against
ANCHORS: Final = {"anchor-3.5k": 3500.0, "anchor-7k": 7000.0}  # low-pass filtered at so many Hz
MAX_SYSTEMS: Final = 50  # of a test: all pairs of them are compared
MAX_CONDITIONS: Final = 12  # in a trial that shows all of them, with hidden reference and anchors
EVEN: Final = 0.5  # the share at which two are even
FIRST, SECOND, SAME = "a", "b", "same"  # answers to a pair
MAX_EQUAL_DIFFERENCE: Final = 0.4  # difference of opinion scores below which there is no preference


@dataclass(frozen=True)
class Scale:
    """A scale: its question, and what its answers are worth.

    answers: what the page sends, with its words ("" for none), from best to worst (or left to
    right). measure: what the value of a system, or of a pair, is called. bounds: the ends of a
    value; shares are from 0 to 1. level: of measurement, for the agreement of raters; None where
    answers are right or wrong, and right by chance in half of the cases. null: the value at which a
    pair is even; None where sounds are rated alone. counted: the answers whose share is the value,
    where it is not their mean. differences: that one may want to find, in the unit of the
    value (of shares of a pair from EVEN), which aim has in words. significant, insignificant: what
    a report says of a pair. name: by which tables and answers know it. typed: whether raters write
    what they understood; the value is the share of word errors.
    """

    question: str
    answers: Labels
    measure: str
    bounds: tuple[int, int]
    level: Level | None = "ordinal"
    null: float | None = None
    counted: tuple[int, ...] = ()
    differences: tuple[float, ...] = (0.2, 0.3, 0.5)
    decimals: int = 2
    aim: str = "A difference of {difference:g}"
    significant: str = ""
    insignificant: str = ""
    name: str = ""
    typed: bool = False

    ranked: ClassVar[bool] = False  # whether raters put all sounds of a trial in order
    adjusted: ClassVar[bool] = False  # whether raters set the level of a sound
    unit: ClassVar[str] = "rating"  # what one of their answers is called

    @property
    def shares(self) -> bool:
        """Whether values are shares, which are printed in percent."""
        return self.bounds == (0, 1)

    @property
    def chance(self) -> bool:
        """Whether answers are right or wrong, and half of them right by chance."""
        return self.level is None

    @property
    def of_pairs(self) -> bool:
        """Whether what is known is known of pairs of systems."""
        return self.chance or self.null is not None

    @property
    def title(self) -> str:
        """Return the name as a heading."""
        return self.name.replace("_", " ").capitalize()

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the answers that are numbers, from best to worst."""
        return tuple(value for value, _ in self.answers if isinstance(value, int))

    @property
    def scores(self) -> bool:
        """Whether the value is a mean of scores that each sound gets."""
        return not self.of_pairs and not self.shares


class GainScale(Scale):
    """A scale of gains: raters set how loud a sound is, in whole dB within the bounds."""

    adjusted: ClassVar[bool] = True
    unit: ClassVar[str] = "setting"


class RankScale(Scale):
    """A scale of places: raters put the sounds of a trial in order, 1 the best, and its value is
    how often one of two stands above the other."""

    ranked: ClassVar[bool] = True
    unit: ClassVar[str] = "ranking"


@dataclass(frozen=True)
class Design:
    """One sound in a trial, which is rated by itself, or as compared with an open reference.

    title, source: what a report calls it, and what it is taken from; summary: a line for
    those who choose a design. tested: how differences are tested, in sentences. reference: "none";
    "open", heard in every trial; "optional", open and hidden among the systems, where there is one;
    or "system", what every system is paired with, where there is one. about_reference: what a new
    test's YAML says of it. cards: what the sounds to play are called (keys of the page's texts);
    numbered: whether answers are known by their numbers. alike: whether the sounds of a trial must
    have one rate and number of channels. example: an answer that a check may expect, as in YAML.
    """

    name: str
    title: str
    summary: str
    source: str
    scale: Scale
    tested: str
    cards: tuple[str, ...] = ()
    reference: Literal["none", "open", "optional", "system"] = "none"
    about_reference: str = ""
    numbered: bool = False
    several: bool = False  # whether a trial may have other scales than the design's
    reworded: bool = False  # whether these differ from the design's by their words alone
    adaptive: bool = False  # whether the next pair may be chosen by the votes so far
    alike: bool = True
    unreferenced: str = ""  # the question where no reference is mentioned
    example: str = "5"

    paired: ClassVar[bool] = False
    together: ClassVar[bool] = False  # whether a trial shows all systems at once
    switched: ClassVar[bool] = False  # whether raters switch between sounds that run at once
    near: ClassVar[float] = 0.0  # how far an answer may miss what practice expects
    expectations: ClassVar[Mapping[str, float]] = {}  # answers that YAML names; else it has numbers

    @property
    def referenced(self) -> bool:
        """Whether raters may hear an open reference."""
        return self.reference in ("open", "optional")

    def min_systems(self, reference: bool) -> int:
        """Return how many systems a test needs, with a reference or without."""
        return 1

    def groups(
        self, systems: Mapping[str, Sound], reference: Sound | None, anchors: Mapping[str, Sound]
    ) -> list[dict[str, Sound]]:
        """Return the systems of one stimulus, divided into trials."""
        return [{name: sound} for name, sound in systems.items()]

    def count(self, systems: int, reference: bool) -> int:
        """Return how many trials one stimulus has."""
        return systems

    def arrange(self, systems: Sequence[str], quarter: int, rng: Generator) -> list[str]:
        """Return the systems of a trial by position; quarter, 0 to 3, decides the sides of two."""
        return [*systems]

    def refusal(self, answer: object, values: Sequence[int | str], places: int) -> str | None:
        """Return what to send in place of an answer that fits no trial of so many places; None for
        one that does."""
        # True == 1 in Python, but is no answer.
        fits = not isinstance(answer, bool | list | dict) and answer in values
        return None if fits else f"Send one of {', '.join(map(str, values))}."

    def value(self, answer: One, order: Order, system: str) -> float:
        """Return what the page sent as the tidy answer about the system (the trial's first)."""
        assert not isinstance(answer, list)
        return float(answer)

    def sent(self, expected: float, order: Order, system: str) -> One:
        """Return a tidy answer as the page sends it."""
        return round(expected)

    @property
    def ends(self) -> tuple[float, float]:
        """Return the least and the greatest answer that is a number."""
        return min(self.scale.numbers), max(self.scale.numbers)

    def in_words(self, value: float, words: Labels) -> str:
        """Return a tidy answer in the words of the scale."""
        return dict(words).get(int(value), "")

    def number(self, value: int | str) -> str | None:
        """Return how the page calls an answer by its number; None where it does not."""
        return str(value) if self.numbered else None

    def guess(self, scores: Sequence[float], order: Order, words: Labels, rng: Generator) -> One:
        """Return the answer of a rater to whom the sounds, in this order of their systems, have
        these opinion scores, from 1 to 5."""
        values = [int(value) for value, _ in words]
        low, high = min(values), max(values)
        step = (scores[0] - 1) / 4 * (high - low)
        best = values[0]
        return int(np.clip(round(low + step if best == high else high - step), low, high))

    def with_expected(self, answer: list[int], at: int, expected: float) -> list[int]:
        """Return the answer to all sounds of a trial, with that to the one at the position as it is
        expected."""
        return answer

    def random(self, words: Labels, places: int, rng: Generator) -> One:
        """Return any answer of the scale."""
        return words[int(rng.integers(len(words)))][0]


class Adjustment(Design):
    """One sound, whose level the rater sets: by the method of adjustment, from a random start."""

    near: ClassVar[float] = 3.0  # dB

    def refusal(self, answer: object, values: Sequence[int | str], places: int) -> str | None:
        low, high = self.scale.bounds
        fits = type(answer) is int and low <= answer <= high
        return None if fits else f"Send a whole number of dB from {low} to {high}."

    @property
    def ends(self) -> tuple[float, float]:
        return self.scale.bounds

    def in_words(self, value: float, words: Labels) -> str:
        return f"{value:+g} dB"

    def guess(self, scores: Sequence[float], order: Order, words: Labels, rng: Generator) -> One:
        """Set what is better louder, so that systems differ in a rehearsal."""
        low, high = self.scale.bounds
        return int(np.clip(round(low + (high - low) * (scores[0] - 1) / 4), low, high))

    def random(self, words: Labels, places: int, rng: Generator) -> One:
        low, high = self.scale.bounds
        return int(rng.integers(low, high + 1))

    def bounded(self, low: int, high: int) -> "Adjustment":
        """Return the design with these bounds, in dB."""
        return replace(self, scale=replace(self.scale, bounds=(low, high)))


class Pair(Design):
    """Two systems in a trial."""

    paired: ClassVar[bool] = True

    def min_systems(self, reference: bool) -> int:
        return 1 if reference else 2

    def groups(
        self, systems: Mapping[str, Sound], reference: Sound | None, anchors: Mapping[str, Sound]
    ) -> list[dict[str, Sound]]:
        """Return every system with the reference if there is one, else all pairs."""
        if reference is not None:
            return [{name: sound, REFERENCE: reference} for name, sound in systems.items()]
        return [dict(pair) for pair in combinations(systems.items(), 2)]

    def count(self, systems: int, reference: bool) -> int:
        return systems if reference else systems * (systems - 1) // 2

    def arrange(self, systems: Sequence[str], quarter: int, rng: Generator) -> list[str]:
        return [*systems] if quarter % 2 else [*systems][::-1]


class Preference(Pair):
    """A design that asks which of two is better: 1 where the system is preferred, 0 where the other
    is, 0.5 for neither.
    """

    expectations: ClassVar[Mapping[str, float]] = {"first": 1.0, "second": 0.0, "same": EVEN}
    IN_WORDS: ClassVar = {1.0: "preferred", 0.0: "the other preferred", EVEN: "no preference"}

    def value(self, answer: One, order: Order, system: str) -> float:
        return EVEN if answer == SAME else float((answer == FIRST) == (order[0] == system))

    def sent(self, expected: float, order: Order, system: str) -> One:
        if expected == EVEN:
            return SAME
        return FIRST if (order[0] == system) == (expected == 1) else SECOND

    def in_words(self, value: float, words: Labels) -> str:
        return self.IN_WORDS.get(value, "")

    def guess(self, scores: Sequence[float], order: Order, words: Labels, rng: Generator) -> One:
        gap = scores[0] - scores[1]
        if abs(gap) < MAX_EQUAL_DIFFERENCE and SAME in dict(words):
            return SAME
        return FIRST if gap > 0 else SECOND


class Discrimination(Pair):
    """A design that asks which of two X is: 1 where the rater is right, else 0. X, in a third
    position, is one of them.
    """

    IN_WORDS: ClassVar = {1.0: "right", 0.0: "wrong"}

    def arrange(self, systems: Sequence[str], quarter: int, rng: Generator) -> list[str]:
        pair = super().arrange(systems, quarter, rng)
        return [*pair, systems[quarter // 2]]

    def value(self, answer: One, order: Order, system: str) -> float:
        return float((answer == FIRST) == (order[0] == order[2]))

    def sent(self, expected: float, order: Order, system: str) -> One:
        return FIRST if order[0] == order[2] else SECOND

    def in_words(self, value: float, words: Labels) -> str:
        return self.IN_WORDS.get(value, "")

    def guess(self, scores: Sequence[float], order: Order, words: Labels, rng: Generator) -> One:
        is_audible = rng.random() < 1 - np.exp(-abs(scores[0] - scores[1]))
        first = order[0] == order[2] if is_audible else rng.random() < EVEN
        return FIRST if first else SECOND


class Comparison(Pair):
    """A design that asks how much better the second sound is than the first; tidy answers are about
    the system.
    """

    def value(self, answer: One, order: Order, system: str) -> float:
        assert not isinstance(answer, list)
        return -float(answer) if order[0] == system else float(answer)

    def sent(self, expected: float, order: Order, system: str) -> One:
        value = round(expected)
        return -value if order[0] == system else value

    def number(self, value: int | str) -> str | None:
        return f"{value:+d}".replace("-", "−") if value else str(value)  # a minus that is one

    def guess(self, scores: Sequence[float], order: Order, words: Labels, rng: Generator) -> One:
        return int(np.clip(round(scores[1] - scores[0]), *self.scale.bounds))


class Multiple(Design):
    """All systems in a trial, each with a slider, and where there is a reference it too, hidden
    among them, with anchors that are made from it."""

    together: ClassVar[bool] = True
    switched: ClassVar[bool] = True
    near: ClassVar[float] = 15.0  # nobody finds a number of a hundred to the point
    MIN_REFERENCE: ClassVar = 90  # the least that an attentive rater gives the hidden reference

    def groups(
        self, systems: Mapping[str, Sound], reference: Sound | None, anchors: Mapping[str, Sound]
    ) -> list[dict[str, Sound]]:
        hidden = {} if reference is None else {REFERENCE: reference, **anchors}
        return [{**systems, **hidden}]

    def count(self, systems: int, reference: bool) -> int:
        return 1

    def arrange(self, systems: Sequence[str], quarter: int, rng: Generator) -> list[str]:
        return [systems[int(i)] for i in rng.permutation(len(systems))]

    def refusal(self, answer: object, values: Sequence[int | str], places: int) -> str | None:
        low, high = self.scale.bounds
        values = answer if isinstance(answer, list) else []
        fits = [each for each in values if type(each) is int and low <= each <= high]
        if len(values) == len(fits) == places:
            return None
        return f"Send {places} whole numbers from {low} to {high}."

    @property
    def ends(self) -> tuple[float, float]:
        return self.scale.bounds

    def in_words(self, value: float, words: Labels) -> str:
        """Return the interval, whose words are those of the upper ends of five."""
        ends = sorted((float(end), word) for end, word in words)
        return next(word for end, word in ends if value <= end)

    def guess(self, scores: Sequence[float], order: Order, words: Labels, rng: Generator) -> One:
        low, high = self.scale.bounds
        lowest = [self.MIN_REFERENCE if name == REFERENCE else low for name in order]
        both = zip(scores, lowest, strict=True)
        return [int(np.clip(round(25 * (score - 1)), least, high)) for score, least in both]

    def with_expected(self, answer: list[int], at: int, expected: float) -> list[int]:
        """Give the sound at the position the expected answer."""
        return [*answer[:at], round(expected), *answer[at + 1 :]]

    def random(self, words: Labels, places: int, rng: Generator) -> One:
        low, high = self.scale.bounds
        return [int(value) for value in rng.integers(low, high + 1, places)]


class Ranking(Multiple):
    """All systems in a trial, of which raters take out the worst again and again, until the best is
    left: an answer is the place of each, from 1, and no two have the same."""

    switched: ClassVar[bool] = False
    near: ClassVar[float] = 0.0

    def min_systems(self, reference: bool) -> int:
        return 2

    def refusal(self, answer: object, values: Sequence[int | str], places: int) -> str | None:
        ranks = answer if isinstance(answer, list) else []
        if all(type(each) is int for each in ranks) and sorted(ranks) == [*range(1, places + 1)]:
            return None
        return f"Send the places of {places} sounds: each number from 1 to {places} once."

    @property
    def ends(self) -> tuple[float, float]:
        return 1, MAX_CONDITIONS

    def in_words(self, value: float, words: Labels) -> str:
        return f"place {value:g}"

    def guess(self, scores: Sequence[float], order: Order, words: Labels, rng: Generator) -> One:
        best_first = np.argsort(-np.asarray(scores), kind="stable")
        return [int(place) + 1 for place in np.argsort(best_first)]

    def random(self, words: Labels, places: int, rng: Generator) -> One:
        return [int(place) + 1 for place in rng.permutation(places)]

    def with_expected(self, answer: list[int], at: int, expected: float) -> list[int]:
        """Exchange the places of two sounds, so that the one at the position gets the expected."""
        place = round(expected)
        exchanged = {answer[at]: place, place: answer[at]}
        return [exchanged.get(each, each) for each in answer]


ALONE: Final = "A difference of two systems is tested by its t; what a rater adds to both cancels."
PREFER: Final = "Neither of {one} and {other} is shown to be better: {value} for {one} ({p})."
QUALITY: Final = ((5, "Excellent"), (4, "Good"), (3, "Fair"), (2, "Poor"), (1, "Bad"))

ACR: Final = Design(
    name="acr",
    title="Mean opinion score (ACR)",
    summary="MOS: how good is it, from 1 to 5",
    source="absolute category ratings (ITU-T P.800)",
    scale=Scale("How good is the quality of what you hear?", QUALITY, "MOS", (1, 5)),
    tested=ALONE,
    cards=("sound",),
    numbered=True,
    several=True,
)
CCR: Final = Comparison(
    name="ccr",
    title="Comparison (CCR)",
    summary="CMOS: how much better than another",
    source="comparison category ratings (ITU-T P.800)",
    scale=Scale(
        "How is the quality of B compared with A?",
        (
            (3, "Much better"),
            (2, "Better"),
            (1, "Slightly better"),
            (0, "About the same"),
            (-1, "Slightly worse"),
            (-2, "Worse"),
            (-3, "Much worse"),
        ),
        "CMOS",
        (-3, 3),
        null=0.0,
        significant="{one} is better than {other}, by {value} ({p}).",
        insignificant=PREFER,
    ),
    tested="The mean comparison rating of a pair is tested against 0 as its interval is made.",
    cards=("A", "B"),
    reference="system",
    numbered=True,
    example="-3",
)
DCR: Final = Design(
    name="dcr",
    title="Degradation (DCR)",
    summary="DMOS: how much worse than the original",
    source="degradation category ratings (ITU-T P.800)",
    scale=Scale(
        "How does the second recording compare with the first?",
        (
            (5, "Degradation is inaudible"),
            (4, "Degradation is audible but not annoying"),
            (3, "Degradation is slightly annoying"),
            (2, "Degradation is annoying"),
            (1, "Degradation is very annoying"),
        ),
        "DMOS",
        (1, 5),
    ),
    tested=ALONE,
    cards=("first", "second"),
    reference="open",
    about_reference="The originals, heard first in every trial.",
    numbered=True,
    several=True,
)
AB: Final = Preference(
    name="ab",
    title="Preference (AB)",
    summary="AB: which of two is better",
    source="paired preferences",
    scale=Scale(
        "Which one do you prefer?",
        ((FIRST, "A"), (SAME, "No preference"), (SECOND, "B")),
        "Preferred",
        (0, 1),
        level="nominal",
        null=EVEN,
        differences=(0.05, 0.1, 0.15),
        aim="A preference of {more} to {less}",
        significant="{one} is preferred to {other} in {value} of votes ({p}).",
        insignificant=PREFER,
    ),
    tested="The share of votes for a system (no preference counts half) is tested against one "
    "half as its interval is made; the sign test next to it leaves ties out and takes all "
    "votes for independent, which makes it find too much where raters have tastes of their "
    "own. Strengths of three systems and more are Bradley and Terry's (1952), a binomial "
    "GLM; no variance of theirs is less than that of independent votes.",
    cards=("A", "B"),
    reference="system",
    several=True,
    reworded=True,
    adaptive=True,
    example="first",
)
ABX: Final = Discrimination(
    name="abx",
    title="ABX",
    summary="ABX: can a difference be heard",
    source="ABX",
    scale=Scale(
        "Is X the same as A or as B?",
        ((FIRST, "A"), (SECOND, "B")),
        "Right",
        (0, 1),
        level=None,
        differences=(0.05, 0.1, 0.15),
        aim="{more} right where {even} is chance",
        significant="{one} and {other} can be told apart: {value} right ({p}).",
        insignificant="That {one} and {other} can be told apart is not shown: {value} right ({p}).",
    ),
    tested="The share of right answers is tested against one half by the exact binomial test, "
    "one-sided: where nothing can be heard every answer is a toss, whoever gives it. d′ is "
    "that of the differencing model for ABX with an unbiased listener (Macmillan and "
    "Creelman 2005, chapter 9), its interval that of the share.",
    cards=("A", "B", "X"),
    reference="system",
    example="",
)
MUSHRA: Final = Multiple(
    name="mushra",
    title="MUSHRA",
    summary="MUSHRA: several at once, from 0 to 100",
    source="MUSHRA (ITU-R BS.1534-3)",
    scale=Scale(
        "How good is each recording compared with the reference?",
        tuple((20 * value, word) for value, word in QUALITY),
        "Mean",
        (0, 100),
        level="interval",
        differences=(3, 5, 10),
        decimals=1,
    ),
    tested="Medians and quartiles are of all ratings of a system. A difference of two systems is "
    "tested by its t; one from the hidden reference, which is there to be found, is not "
    "tested. Friedman's test compares the systems under test, and Wilcoxon's signed-rank "
    "test (exact for up to {exact} raters, with ties too) each pair of them, on the "
    "raters' means over their trials, as ITU-R BS.1534-3 has it. Both take the stimuli as "
    "given: where systems suit single stimuli they find differences that other stimuli "
    "would not show.",
    several=True,
    reworded=True,
    reference="optional",
    about_reference=f"Open, and hidden among the systems; {' and '.join(ANCHORS)} are made from "
    "it. Without it,\n# or with mention_reference: false, raters judge quality, not likeness.",
    unreferenced="How good is the quality of each recording?",
    example="100",
)
SIMILARITY: Final = Design(
    name="similarity",
    title="Speaker similarity",
    summary="Is it the same speaker",
    source="same-or-different judgements of the speaker on four levels "
    "(Voice Conversion Challenge 2018)",
    scale=Scale(
        "Were both recordings spoken by the same person?",
        (
            (1, "Same, absolutely sure"),
            (2, "Same, not sure"),
            (3, "Different, not sure"),
            (4, "Different, absolutely sure"),
        ),
        "Judged the same",
        (0, 1),
        counted=(1, 2),
        differences=(0.05, 0.1, 0.2),
        aim="A difference of {points:.0f} percentage points",
    ),
    tested=f"Judged the same are answers of “same”, whether sure or not. {ALONE}",
    cards=("A", "B"),
    reference="open",
    about_reference="What every sound is compared with.",
    alike=False,
    example="4",
)

SMOS: Final = Design(
    name="smos",
    title="Similarity mean opinion score (SMOS)",
    summary="SMOS: how similar to a reference, from 1 to 5",
    source="similarity ratings from 1 to 5 next to a reference (Jia et al. 2018)",
    scale=Scale(
        "How similar is the voice to that of the reference?",
        (
            (5, "Extremely similar"),
            (4, "Very similar"),
            (3, "Moderately similar"),
            (2, "Slightly similar"),
            (1, "Not at all similar"),
        ),
        "SMOS",
        (1, 5),
    ),
    tested=ALONE,
    cards=("reference", "sound"),
    reference="open",
    about_reference="The voice that every sound is compared with.",
    numbered=True,
    several=True,
    alike=False,
)

RANKING: Final = Ranking(
    name="ranking",
    title="Ranking by elimination",
    summary="Ranking: which is worst, then which of the rest",
    source="rankings, in which raters take out the worst again and again",
    scale=RankScale(
        "Which of these sounds worst?",
        (),
        "Ranked above",
        (0, 1),
        level="nominal",
        null=EVEN,
        differences=(0.05, 0.1, 0.15),
        aim="One above the other in {more} of rankings",
        significant="{one} is ranked above {other} in {value} of rankings ({p}).",
        insignificant="Neither of {one} and {other} is shown to be ranked higher: {one} is above "
        "{other} in {value} of rankings ({p}).",
    ),
    tested="The share of rankings in which one of two systems stands above the other is tested "
    "against one half as its interval is made; the sign test next to it takes all rankings for "
    "independent. Strengths are those of Plackett (1975) and Luce (1959): at each step the best of "
    "those left is chosen with odds of the exponent of its strength; no variance of theirs is less "
    "than that of independent rankings.",
    example="1",
)

ADJUSTMENT: Final = Adjustment(
    name="adjustment",
    title="Method of adjustment",
    summary="Adjustment: set how loud a sound is",
    source="the method of adjustment, in which raters set the level of each sound, from a random "
    "start within bounds",
    scale=GainScale(
        "Set the sound as loud as the reference.",
        (),
        "Gain",
        (-20, 6),
        level="interval",
        differences=(0.5, 1.0, 2.0),
        decimals=1,
        aim="A difference of {difference:g} dB",
    ),
    tested=f"Values are gains in dB. {ALONE} How far a rater's own settings of one system spread "
    "is the standard deviation of them, pooled over raters.",
    reference="optional",
    about_reference="What the level is set by; without it, raters set what they like.",
    alike=False,
    unreferenced="Set the sound as loud as you like it best.",
    example="0",
)

FAULTS: Final = "faults"  # the name of the faults that were ticked, among the answers of a trial
COMMENT: Final = "comment"  # the name of a text about a trial, among its answers
TRANSCRIPTION: Final = Scale(
    "What is said? Write ? for what you do not understand.",
    (),
    "Word error rate",
    (0, 1),
    level="interval",
    differences=(0.05, 0.1, 0.2),
    aim="A difference of {points:.0f} percentage points",
    name="transcription",
    typed=True,
)

DESIGNS: Final[Mapping[str, Design]] = {
    design.name: design
    for design in (ACR, CCR, DCR, AB, ABX, ADJUSTMENT, MUSHRA, RANKING, SIMILARITY, SMOS)
}
