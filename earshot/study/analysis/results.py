"""The results of a test's ratings, as tables."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from earshot.study.analysis import abx, mos, mushra, preference
from earshot.study.analysis.agreement import by_unit, krippendorff
from earshot.study.analysis.clustered import LEVEL, ROUNDING, Estimate
from earshot.study.analysis.exclusions import Exclusion
from earshot.study.analysis.power import at_null, plan, smallest_p
from earshot.study.analysis.tables import Table, holm, percent, simulated
from earshot.study.design import REFERENCE, Scale, Test
from earshot.study.design.rules import Rules
from earshot.study.storage.conduct import Conduct

MIN_RATERS: Final = 5  # of whom one may say more than a first hint
MAX_LEFT_OUT: Final = 0.25  # of the raters, from which on a reader is warned

REHEARSED: Final = (
    "These raters are simulated: this is a rehearsal of the analysis, and says nothing about the "
    "systems."
)
UNSCALED: Final = (
    "There is no Bradley–Terry scale yet: some systems have won, or lost, every comparison with "
    "the others."
)
NOT_MODELLED: Final = (
    "The pairs were chosen by the votes, so shares of votes are no fair estimates, and there is no "
    "scale yet to take their place: read them as a first hint."
)


@dataclass(frozen=True, eq=False)
class Analysis:
    """The results of one set of raters on one scale.

    answers: the scored rows. systems, pairs: see the module of the design; without rows where there
    is nothing to say. overall: Friedman's test, in MUSHRA. agreement: Krippendorff's α or NaN.
    power: see power.plan. notes: what a reader must know before they believe a number.
    """

    scale: Scale
    answers: Table
    systems: Table
    pairs: Table
    overall: dict[str, float] | None
    agreement: float
    power: Table
    notes: tuple[str, ...]

    @property
    def raters(self) -> int:
        """Count the raters."""
        return self.answers["rater"].nunique()

    @property
    def stimuli(self) -> int:
        """Count the stimuli that were rated."""
        return self.answers["stimulus"].nunique()


@dataclass(frozen=True, eq=False)
class Results:
    """A test's results both ways: kept, without whom the rules exclude, and everyone.

    started and finished count raters with at least one answer, and with all; untimely: ratings of
    raters who are kept, left out since they took too little time, or too much. conduct: what became
    of all who came, None where it is not known, as of ratings from elsewhere. effects, models: of
    those who are kept, see robustness. more: of the test's other scales, where a trial has several.
    """

    test: Test
    kept: Analysis
    everyone: Analysis
    rules: Rules
    exclusions: tuple[Exclusion, ...]
    started: int
    finished: int
    untimely: int = 0
    conduct: Conduct | None = None
    effects: Table = field(default_factory=pd.DataFrame)
    models: Table = field(default_factory=pd.DataFrame)
    more: tuple["Results", ...] = ()

    @property
    def scale(self) -> Scale:
        """Take the scale that the results are about."""
        return self.kept.scale

    @property
    def by_scale(self) -> tuple["Results", ...]:
        """List the results of every scale."""
        return (self, *self.more)

    @property
    def notes(self) -> list[str]:
        """List what a reader must know first: once where it holds of every scale."""
        shared = [n for n in self.kept.notes if all(n in each.kept.notes for each in self.more)]
        own = [(each, note) for each in self.by_scale for note in each.kept.notes]
        return shared + [each.named(note) for each, note in own if note not in shared]

    def named(self, text: str) -> str:
        """Say of which scale a text is, where a trial has several."""
        return f"{self.scale.title}: {text}" if self.test.scales else text


def evaluate(test: Test, answers: Table, left_out: int = 0, scale: Scale | None = None) -> Analysis:
    """Make the analysis that the test's design asks for, of scored rows of the tidy table.
    left_out: how many raters the rules have taken from it; scale: the one that the rows are about,
    the test's first where it is not said."""
    scale = scale or test.rated[0]
    notes = list(_warnings(test, answers, left_out, scale))
    if not answers.empty and simulated(answers):
        notes.insert(0, REHEARSED)
    found = Found()
    if not answers.empty:
        of_pairs = _discriminations if scale.chance else _votes
        found = (of_pairs if scale.of_pairs else _scores)(test, answers, scale)
    agreement = np.nan
    if scale.level is not None and not answers.empty:
        agreement = krippendorff(by_unit(answers), scale.level)
    estimates = [*found.estimates.values()]
    if scale.null is not None:
        estimates = [at_null(each, *scale.bounds) for each in estimates]
    power = plan(estimates, scale.wanted, scale.chance)
    least = smallest_p(estimates, scale.bounds, scale.chance)
    notes += found.notes
    if least > 1 - LEVEL and answers["rater"].nunique() > 1:
        notes.append(_out_of_reach(least, len(estimates)))
    return Analysis(
        scale, answers, found.systems, found.pairs, found.overall, agreement, power, tuple(notes)
    )


@dataclass(frozen=True, eq=False)
class Found:
    """The findings of one kind of scale: see Analysis. estimates: of the pairs that power is
    planned for.
    """

    systems: Table = field(default_factory=pd.DataFrame)
    pairs: Table = field(default_factory=pd.DataFrame)
    estimates: dict[tuple[str, str], Estimate] = field(default_factory=dict)
    overall: dict[str, float] | None = None
    notes: tuple[str, ...] = ()


def _scores(test: Test, answers: Table, scale: Scale) -> Found:
    """Estimate the mean of each system, or its share of some answers, and their differences."""
    scored, rounding = mos.scored(test, scale, answers), 0.0 if scale.typed else ROUNDING
    systems = mos.systems(scored, scale.bounds, lowest_first=scale.typed)
    tested = [name for name in systems["system"] if name in (*test.systems, REFERENCE)]
    differences = mos.differences(scored, tested, rounding)
    pairs = mos.pairs(differences)
    # A hidden reference is there to be found: what differs from it is no finding of the test.
    against = pairs[["system", "other"]].eq(REFERENCE).any(axis=1)
    pairs = pairs.assign(p_holm=holm(pairs["p"].mask(against)))
    overall = None
    if test.design.together:
        systems = systems.merge(mushra.quartiles(answers), on="system")
        overall = mushra.friedman(answers[answers["system"].isin(test.systems)])
        ranked = mushra.wilcoxons(answers, [name for name in tested if name != REFERENCE])
        pairs = pairs.merge(ranked, on=["system", "other"], how="left")
    estimates = {pair: e for pair, e in differences.items() if REFERENCE not in pair}
    return Found(systems, pairs, estimates, overall)


def _votes(test: Test, answers: Table, scale: Scale) -> Found:
    """Estimate how far one of a pair is preferred, and of shares of votes the strengths."""
    ranking = preference.ranking(answers, scale.null or 0.0)
    estimates = preference.estimates(answers, ranking, scale.null or 0.0)
    if not scale.shares:
        return Found(pairs=preference.comparisons(answers, estimates), estimates=estimates)
    systems, pairs = pd.DataFrame(), preference.preferences(answers, estimates)
    several, adaptive = len(ranking) > 2, test.pairing == "adaptive"
    notes = []
    if several and preference.can_be_scaled(answers):
        systems = preference.bradley_terry(answers, ranking)
        if adaptive:
            ranking = systems.sort_values("value", ascending=False)["system"].tolist()
            systems = preference.bradley_terry(answers, ranking)
            gaps = preference.modelled(answers, ranking)
            pairs = preference.modelled_preferences(answers, gaps)
            estimates = {pair: preference.as_share(gap) for pair, gap in gaps.items()}
    elif several:
        notes.append(UNSCALED)
    if adaptive and systems.empty:
        notes.append(NOT_MODELLED)
    return Found(systems, pairs, estimates, notes=tuple(notes))


def _discriminations(test: Test, answers: Table, scale: Scale) -> Found:
    """Estimate how often each pair is told apart."""
    estimates = abx.estimates(answers)
    return Found(pairs=abx.discrimination(answers, estimates), estimates=estimates)


def _out_of_reach(least: float, pairs: int) -> str:
    corrected = f" and {pairs} pairs" if pairs > 1 else ""
    return (
        f"With so few ratings{corrected} no difference can be significant: were every answer the "
        f"same, p would still be {least:.2f}."
    )


def _warnings(test: Test, answers: Table, left_out: int, scale: Scale) -> Iterator[str]:
    raters, stimuli = answers["rater"].nunique(), answers["stimulus"].nunique()
    came = raters + left_out
    who = f"Only {raters} of {came} people are kept by the rules"
    if raters == 1:
        yield (
            f"{who if left_out else 'Only one person has taken part'}. What others would say "
            "cannot be estimated, so there are no intervals."
        )
    elif 1 < raters < MIN_RATERS:
        taken = f"Only {raters} people have taken part"
        yield f"{who if left_out else taken}: take every number as a first hint."
    if came and left_out / came >= MAX_LEFT_OUT:
        yield (
            f"The rules leave out {left_out} of {came} raters ({percent(left_out / came)}). So "
            "many point to a fault of the test, its checks or its rules: look for it before you "
            "believe the rest."
        )
    votes = scale.null is not None and scale.shares
    if votes and raters > 1 and 0.5 ** (raters - 1) > 1 - LEVEL:
        yield (
            f"{raters} people whose tastes are tossed agree in {percent(0.5 ** (raters - 1))} of "
            "cases: however many votes each gives, so few cannot speak for others."
        )
    if not scale.of_pairs and not test.design.together and stimuli > 1:
        shared = answers.groupby("stimulus")["system"].nunique()
        if answers["system"].nunique() > 1 and shared.max() == 1:
            yield (
                "The systems share no stimulus, so what a stimulus adds does not cancel in their "
                "differences. Are the same sentences named alike in all systems?"
            )
    if stimuli == 1:
        yield "There is only one stimulus: the results hold for it, and for no other."
    if raters > 1 and _all_same(scale, answers):
        yield (
            "All answers are the same. How sure that is follows from nothing but their number and "
            "the steps of the scale."
        )


def _all_same(scale: Scale, answers: Table) -> bool:
    """Say whether nobody told anything apart: in pairs, the vote of each for whichever was named
    first is no common answer."""
    null = scale.null
    if null is None:
        return answers["answer"].nunique() == 1
    turned = answers["system"] > answers["other"]
    told = answers["answer"].where(~turned, 2 * null - answers["answer"])
    one_pair = len({frozenset(pair) for pair in answers[["system", "other"]].to_numpy()}) == 1
    return told.nunique() == 1 and (one_pair or bool((told == null).all()))
