"""What is known from the ratings of a test, as tables."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from earshot.study.analysis import abx, mos, mushra, preference
from earshot.study.analysis.agreement import Level, by_unit, krippendorff
from earshot.study.analysis.clustered import Estimate
from earshot.study.analysis.exclusions import Exclusion, Rules
from earshot.study.analysis.power import plan
from earshot.study.analysis.tables import Table, simulated
from earshot.study.design import REFERENCE, Design, Test

# The ends of what a value can be; of shares, of ab, abx and similarity, from none to all.
BOUNDS: Final[dict[Design, tuple[int, int]]] = {
    "acr": (1, 5),
    "dcr": (1, 5),
    "ccr": (-3, 3),
    "mushra": (0, 100),
    "similarity": (0, 1),
    "ab": (0, 1),
    "abx": (0, 1),
}
LEVELS: Final[dict[Design, Level]] = {
    "acr": "ordinal",
    "dcr": "ordinal",
    "ccr": "ordinal",
    "similarity": "ordinal",
    "mushra": "interval",
    "ab": "nominal",
}
# Differences that one may want to find, in the unit of the value; of shares, from even or chance.
WANTED: Final[dict[Design, tuple[float, ...]]] = {
    "acr": (0.2, 0.3, 0.5),
    "dcr": (0.2, 0.3, 0.5),
    "ccr": (0.2, 0.3, 0.5),
    "mushra": (3, 5, 10),
    "similarity": (0.05, 0.1, 0.2),
    "ab": (0.05, 0.1, 0.15),
    "abx": (0.05, 0.1, 0.15),
}


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
    """The results of one set of raters.

    answers: the scored rows. systems, pairs: see the module of the design; without rows where there
    is nothing to say. overall: Friedman's test, in MUSHRA. agreement: Krippendorff's α or NaN.
    power: see power.plan. notes: what a reader must know before they believe a number.
    """

    answers: Table
    systems: Table
    pairs: Table
    overall: dict[str, float] | None
    agreement: float
    power: Table
    notes: tuple[str, ...]

    @property
    def raters(self) -> int:
        """How many there are."""
        return self.answers["rater"].nunique()

    @property
    def stimuli(self) -> int:
        """How many were rated."""
        return self.answers["stimulus"].nunique()


@dataclass(frozen=True, eq=False)
class Results:
    """A test's results both ways: kept, without whom the rules exclude, and everyone.

    started and finished count raters with at least one answer, and with all.
    """

    test: Test
    kept: Analysis
    everyone: Analysis
    rules: Rules
    exclusions: tuple[Exclusion, ...]
    started: int
    finished: int


def evaluate(test: Test, answers: Table) -> Analysis:
    """The analysis that the test's design asks for, of scored rows of the tidy table."""
    systems, pairs, overall = pd.DataFrame(), pd.DataFrame(), None
    estimates: dict[tuple[str, str], Estimate] = {}
    notes = list(_warnings(answers))
    if not answers.empty and simulated(answers):
        notes.insert(0, REHEARSED)
    if answers.empty:
        pass
    elif test.design in ("ab", "ccr"):
        null = preference.EVEN if test.design == "ab" else 0.0
        ranking = preference.ranking(answers, null)
        estimates = preference.estimates(answers, ranking, null)
        if test.design == "ccr":
            pairs = preference.comparisons(answers, estimates)
        else:
            pairs = preference.preferences(answers, estimates)
            several = len(ranking) > 2 and answers["answer"].nunique() > 1
            adaptive = test.pairing == "adaptive"
            if several and preference.can_be_scaled(answers):
                systems = preference.bradley_terry(answers, ranking, adaptive)
                if adaptive:
                    ranking = systems.sort_values("value", ascending=False)["system"].tolist()
                    systems = preference.bradley_terry(answers, ranking, adaptive)
                    gaps = preference.modelled(answers, ranking)
                    pairs = preference.modelled_preferences(answers, gaps)
                    estimates = {pair: preference.as_share(gap) for pair, gap in gaps.items()}
            elif several:
                notes.append(UNSCALED)
            if adaptive and systems.empty:
                notes.append(NOT_MODELLED)
    elif test.design == "abx":
        estimates = abx.estimates(answers)
        pairs = abx.discrimination(answers, estimates)
    else:
        scored = mos.judged_same(answers) if test.design == "similarity" else answers
        systems = mos.systems(scored, BOUNDS[test.design])
        ranking = systems["system"].tolist()
        tested = [name for name in ranking if name in (*test.systems, REFERENCE)]
        differences = mos.differences(scored, tested)
        pairs = mos.pairs(differences)
        estimates = {pair: e for pair, e in differences.items() if REFERENCE not in pair}
        if test.design == "mushra":
            systems = systems.merge(mushra.quartiles(answers), on="system")
            overall = mushra.friedman(answers[answers["system"].isin(test.systems)])
            ranked = mushra.wilcoxons(answers, tested)
            pairs = pairs.drop(columns=["p", "p_holm"]).merge(ranked, on=["system", "other"])
    agreement = np.nan
    if test.design in LEVELS and not answers.empty:
        agreement = krippendorff(by_unit(answers), LEVELS[test.design])
    power = plan(estimates.values(), WANTED[test.design])
    return Analysis(answers, systems, pairs, overall, agreement, power, tuple(notes))


def _warnings(answers: Table) -> list[str]:
    raters, stimuli = answers["rater"].nunique(), answers["stimulus"].nunique()
    found = []
    if raters == 1:
        found.append(
            "Only one person has taken part. What others would say cannot be estimated, so there "
            "are no intervals."
        )
    elif 1 < raters < 5:
        found.append(f"Only {raters} people have taken part: take every number as a first hint.")
    if stimuli == 1:
        found.append("There is only one stimulus: the results hold for it, and for no other.")
    if raters > 1 and answers["answer"].nunique() == 1:
        found.append("All answers are the same, so there is no spread from which to judge.")
    return found
