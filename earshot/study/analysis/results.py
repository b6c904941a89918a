"""The results of a test's ratings, as tables."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from earshot.study.analysis import paired_comparisons, rankings, scores, staircases
from earshot.study.analysis.estimates import (
    LEVEL,
    ROUNDING,
    Estimate,
    Table,
    holm,
    percent,
    simulated,
)
from earshot.study.analysis.exclusions import Exclusion
from earshot.study.analysis.paired_comparisons import both_ways
from earshot.study.analysis.power import at_null, plan, smallest_p
from earshot.study.analysis.scores import counted
from earshot.study.design import REFERENCE, Scale, Test
from earshot.study.design.designs import Level
from earshot.study.design.raters import Rules
from earshot.study.storage.raters import Conduct

MIN_RATERS: Final = 5  # of whom one may say more than a first hint
MAX_LEFT_OUT: Final = 0.25  # of the raters, from which on a reader is warned

REHEARSED: Final = (
    "These raters are simulated: this is a rehearsal of the analysis, and says nothing about the "
    "systems."
)
UNSCALED: Final = (
    "There is no scale of strengths yet: some systems have won, or lost, every comparison with "
    "the others."
)
BEYOND: Final = {
    "easiest": "The threshold was not reached: add easier levels.",
    "hardest": "The threshold was not reached: add harder levels.",
}
NOT_MODELLED: Final = (
    "The pairs were chosen by the votes, so shares of votes are no fair estimates, and there is no "
    "scale yet to take their place: read them as a first hint."
)


@dataclass(frozen=True, eq=False)
class Analysis:
    """The results of one set of raters on one scale.

    answers: the scored rows. systems, pairs, threshold: see the module of the design; without rows
    where there are no results. overall: Friedman's test, in MUSHRA. agreement: Krippendorff's α or
    NaN. power: see power.plan. notes: what a reader must know before they believe a number.
    """

    scale: Scale
    answers: Table
    systems: Table
    pairs: Table
    overall: dict[str, float] | None
    agreement: float
    power: Table
    notes: tuple[str, ...]
    threshold: Table = field(default_factory=pd.DataFrame)

    @property
    def raters(self) -> int:
        """Count the raters."""
        return self.answers["rater"].nunique()

    @property
    def single(self) -> Table:
        """Take a row for each answer that raters gave, which of a ranking are several votes."""
        if not self.scale.ranked:
            return self.answers
        return self.answers.drop_duplicates(["rater", "order"])

    @property
    def stimuli(self) -> int:
        """Count the stimuli that were rated."""
        return self.answers["stimulus"].nunique()


@dataclass(frozen=True, eq=False)
class Results:
    """A test's results both ways: included, without whom the rules exclude, and everyone.

    started and finished count raters with at least one answer, and with all; untimely: ratings of
    raters who are kept, left out since they took too little time, or too much; skipped: others,
    left out since the device skipped. conduct: what became of all who came, None where it is not
    known, as of ratings from elsewhere. effects, models: of those who are kept, see robustness.
    more: of the test's other scales, where a trial has several. faults: that those who are kept
    have ticked, see scores.faults.
    """

    test: Test
    included: Analysis
    everyone: Analysis
    rules: Rules
    exclusions: tuple[Exclusion, ...]
    started: int
    finished: int
    untimely: int = 0
    skipped: int = 0
    conduct: Conduct | None = None
    effects: Table = field(default_factory=pd.DataFrame)
    models: Table = field(default_factory=pd.DataFrame)
    more: tuple["Results", ...] = ()
    faults: Table = field(default_factory=pd.DataFrame)

    @property
    def scale(self) -> Scale:
        """Take the scale that the results are about."""
        return self.included.scale

    @property
    def by_scale(self) -> tuple["Results", ...]:
        """List the results of every scale."""
        return (self, *self.more)

    @property
    def notes(self) -> list[str]:
        """List what a reader must know first: once where it holds of every scale."""
        shared = [
            n for n in self.included.notes if all(n in each.included.notes for each in self.more)
        ]
        own = [(each, note) for each in self.by_scale for note in each.included.notes]
        return shared + [each.named(note) for each, note in own if note not in shared]

    def named(self, text: str) -> str:
        """Prefix a text with its scale, where a trial has several."""
        return f"{self.scale.title}: {text}" if self.test.scales else text


def evaluate(test: Test, answers: Table, left_out: int = 0, scale: Scale | None = None) -> Analysis:
    """Make the analysis that the test's design asks for, of scored rows of the tidy table.
    left_out: how many raters the rules have taken from it; scale: the one that the rows are about,
    the test's first where it is not given."""
    scale = scale or test.rated[0]
    notes = list(_warnings(test, answers, left_out, scale))
    if not answers.empty and simulated(answers):
        notes.insert(0, REHEARSED)
    estimated = ScaleEstimates()
    if not answers.empty:
        of_pairs = _discriminations if scale.chance else _votes
        of_pairs = _threshold if test.staircase else of_pairs
        estimated = (of_pairs if scale.of_pairs else _scores)(test, answers, scale)
    agreement = np.nan
    if scale.level is not None and not answers.empty:
        agreement = krippendorff(by_unit(answers), scale.level)
    estimates = [*estimated.estimates.values()]
    if scale.null is not None:
        estimates = [at_null(each, *scale.bounds) for each in estimates]
    power = plan(estimates, scale.differences, scale.chance)
    least = smallest_p(estimates, scale.bounds, scale.chance)
    notes += estimated.notes
    if least > 1 - LEVEL and answers["rater"].nunique() > 1:
        notes.append(_out_of_reach(least, len(estimates)))
    tables = (estimated.systems, estimated.pairs, estimated.overall)
    return Analysis(scale, answers, *tables, agreement, power, tuple(notes), estimated.threshold)


@dataclass(frozen=True, eq=False)
class ScaleEstimates:
    """The findings of one kind of scale: see Analysis. estimates: of the pairs that power is
    planned for.
    """

    systems: Table = field(default_factory=pd.DataFrame)
    pairs: Table = field(default_factory=pd.DataFrame)
    estimates: dict[tuple[str, str], Estimate] = field(default_factory=dict)
    overall: dict[str, float] | None = None
    notes: tuple[str, ...] = ()
    threshold: Table = field(default_factory=pd.DataFrame)


def _scores(test: Test, answers: Table, scale: Scale) -> ScaleEstimates:
    """Estimate the mean of each system, or its share of some answers, and their differences."""
    scored, rounding = scores.scored(test, scale, answers), 0.0 if scale.typed else ROUNDING
    systems = scores.systems(scored, scale.bounds, lowest_first=scale.typed)
    tested = [name for name in systems["system"] if name in (*test.systems, REFERENCE)]
    differences = scores.differences(scored, tested, rounding)
    pairs = scores.pairs(differences)
    # A hidden reference is there to be found: what differs from it is no finding of the test.
    against = pairs[["system", "other"]].eq(REFERENCE).any(axis=1)
    pairs = pairs.assign(p_holm=holm(pairs["p"].mask(against)))
    if scale.adjusted:
        systems = systems.merge(scores.spreads(answers), on="system")
    overall = None
    if test.design.together:
        systems = systems.merge(scores.quartiles(answers), on="system")
        overall = scores.friedman(answers[answers["system"].isin(test.systems)])
        ranked = scores.wilcoxons(answers, [name for name in tested if name != REFERENCE])
        pairs = pairs.merge(ranked, on=["system", "other"], how="left")
    estimates = {pair: e for pair, e in differences.items() if REFERENCE not in pair}
    return ScaleEstimates(systems, pairs, estimates, overall)


def _votes(test: Test, answers: Table, scale: Scale) -> ScaleEstimates:
    """Estimate how far one of a pair is preferred, and of shares of votes the strengths."""
    ranking = paired_comparisons.ranking(answers, scale.null or 0.0)
    estimates = paired_comparisons.mean_votes(answers, ranking, scale.null or 0.0)
    if not scale.shares:
        return ScaleEstimates(
            pairs=paired_comparisons.comparisons(answers, estimates), estimates=estimates
        )
    systems, pairs = pd.DataFrame(), paired_comparisons.preferences(answers, estimates)
    several, adaptive = len(ranking) > 2, test.pairing == "adaptive"
    notes = []
    if several and paired_comparisons.can_be_scaled(answers):
        fitted = rankings.plackett_luce if scale.ranked else paired_comparisons.bradley_terry
        systems = fitted(answers, ranking)
        if adaptive:
            ranking = systems.sort_values("value", ascending=False)["system"].tolist()
            systems = paired_comparisons.bradley_terry(answers, ranking)
            gaps = paired_comparisons.modelled(answers, ranking)
            pairs = paired_comparisons.modelled_preferences(answers, gaps)
            estimates = {pair: paired_comparisons.as_share(gap) for pair, gap in gaps.items()}
    elif several:
        notes.append(UNSCALED)
    if adaptive and systems.empty:
        notes.append(NOT_MODELLED)
    return ScaleEstimates(systems, pairs, estimates, notes=tuple(notes))


def _discriminations(test: Test, answers: Table, scale: Scale) -> ScaleEstimates:
    """Estimate how often the systems of each pair are distinguished."""
    estimates = paired_comparisons.right_shares(answers)
    return ScaleEstimates(
        pairs=paired_comparisons.discrimination(answers, estimates), estimates=estimates
    )


def _threshold(test: Test, answers: Table, scale: Scale) -> ScaleEstimates:
    """Estimate the threshold of a staircase. Its levels, chosen by answers, are counted and not
    tested."""
    assert test.staircase
    fitted = staircases.psychometric(test.staircase, answers)
    return ScaleEstimates(
        pairs=staircases.levels(test.staircase, answers),
        threshold=staircases.table(fitted),
        notes=(BEYOND[fitted.beyond],) if fitted.beyond else (),
    )


def _out_of_reach(least: float, pairs: int) -> str:
    corrected = f" and {pairs} pairs" if pairs > 1 else ""
    return (
        f"With so few ratings{corrected} no difference can be significant: were every answer the "
        f"same, p would still be {least:.2f}."
    )


def _warnings(test: Test, answers: Table, left_out: int, scale: Scale) -> Iterator[str]:
    raters, stimuli = answers["rater"].nunique(), answers["stimulus"].nunique()
    people = raters + left_out
    who = f"Only {raters} of {people} people are kept by the rules"
    if raters == 1:
        yield (
            f"{who if left_out else 'Only one person has taken part'}. What others would say "
            "cannot be estimated, so there are no intervals."
        )
    elif 1 < raters < MIN_RATERS:
        taken = f"Only {raters} people have taken part"
        yield f"{who if left_out else taken}: take every number as a first hint."
    if people and left_out / people >= MAX_LEFT_OUT:
        yield (
            f"The rules leave out {left_out} of {people} raters ({percent(left_out / people)}). So "
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
    """Whether nobody distinguished anything: in pairs, the vote of each for whichever was named
    first is no common answer."""
    null = scale.null
    if null is None:
        return answers["answer"].nunique() == 1
    turned = answers["system"] > answers["other"]
    of_first = answers["answer"].where(~turned, 2 * null - answers["answer"])
    one_pair = len({frozenset(pair) for pair in answers[["system", "other"]].to_numpy()}) == 1
    return of_first.nunique() == 1 and (one_pair or bool((of_first == null).all()))


def answers_by_system(scale: Scale, answers: Table) -> Table:
    """Turn answers into what one averages them: of pairs once for either system, the same of both
    where they are right or wrong; 1 or 0 where the share of some answers is counted.
    """
    if scale.chance:  # which of two is named first means nothing
        turned = answers.assign(system=answers["other"], other=answers["system"])
        return pd.concat([answers, turned], ignore_index=True)
    if scale.null is not None:
        return both_ways(answers, scale.null)
    return counted(answers, scale)


def by_stimulus(analysis: Analysis) -> Table:
    """Make a row for each system, or pair ("one and other"), as the analysis ranks them; a column a
    stimulus, the one that is rated lowest over all rows first; NaN where nothing is rated.

    In ab and ccr the answer is that of the first of a pair; in abx it is the share right, in
    similarity the share judged the same.
    """
    scale = analysis.scale
    answers, ranked = answers_by_system(scale, analysis.answers), analysis.systems
    if scale.of_pairs:
        answers, ranked = (
            table.assign(system=table["system"] + " and " + table["other"])
            for table in (answers, analysis.pairs)
        )
    means = answers.pivot_table(index="system", columns="stimulus", values="answer", aggfunc="mean")
    means = means.reindex(ranked["system"].tolist()).dropna(axis="columns", how="all")
    return means[means.mean().sort_values(kind="stable").index]


def krippendorff(values: np.ndarray, level: Level) -> float:
    """Find α = 1 − D_o / D_e of values (raters, units), NaN where a rater did not judge a unit.

    1 is perfect agreement, 0 what chance would bring. NaN where no unit has two values, or all
    values are the same (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section E).
    """
    kinds = np.unique(values[~np.isnan(values)])
    if not len(kinds):
        return np.nan
    counts = np.stack([(values == kind).sum(axis=0) for kind in kinds], axis=1)  # (units, kinds)
    counts = counts[counts.sum(axis=1) > 1]
    shares = counts / (counts.sum(axis=1, keepdims=True) - 1)
    observed = counts.T @ shares - np.diag(shares.sum(axis=0))  # coincidences
    totals = observed.sum(axis=0)
    expected = (np.outer(totals, totals) - np.diag(totals)) / max(totals.sum() - 1, 1)
    apart = _distances(kinds, totals, level)
    disagreement = (expected * apart).sum()
    return float(1 - (observed * apart).sum() / disagreement) if disagreement > 0 else np.nan


def by_unit(ratings: Table) -> np.ndarray:
    """Arrange the answers (raters, units): a unit is a system, or pair of systems, heard with one
    stimulus."""
    table = ratings.pivot_table(
        index="rater", columns=["system", "other", "stimulus"], values="answer", aggfunc="mean"
    )
    return table.to_numpy(float)


def _distances(kinds: np.ndarray, totals: np.ndarray, level: Level) -> np.ndarray:
    """Find δ² between all kinds of values (K, K)."""
    if level == "nominal":
        return 1.0 - np.eye(len(kinds))
    if level == "interval":
        return np.subtract.outer(kinds, kinds) ** 2
    # Ranks: how many values lie between, counting half of either end.
    middle = np.cumsum(totals) - totals / 2
    return np.subtract.outer(middle, middle) ** 2
