"""Results in words: numbers as a paper prints them, the verdict, and how many more raters."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from earshot.study.analysis.clustered import LEVEL
from earshot.study.analysis.results import Analysis, Results
from earshot.study.analysis.tables import Table, percent
from earshot.study.design import Design, Test

ALPHA: Final = 1 - LEVEL
MOST: Final = 3  # pairs in a verdict
SHARES: Final[tuple[Design, ...]] = ("ab", "abx", "similarity")
# What the value of a system, or of a pair, is called.
MEASURES: Final[dict[Design, str]] = {
    "acr": "MOS",
    "dcr": "DMOS",
    "ccr": "CMOS",
    "mushra": "Mean",
    "similarity": "Judged the same",
    "ab": "Preferred",
    "abx": "Right",
}
NAMES: Final[dict[Design, str]] = {
    "acr": "Mean opinion score (ACR)",
    "dcr": "Degradation (DCR)",
    "ccr": "Comparison (CCR)",
    "mushra": "MUSHRA",
    "similarity": "Speaker similarity",
    "ab": "Preference (AB)",
    "abx": "ABX",
}
TOO_LITTLE: Final = "There is too little yet to say."


def number(design: Design, value: float, signed: bool = False) -> str:
    """2.31, in MUSHRA 2.3, of shares 23 %; "–" where it is not known."""
    if np.isnan(value):
        return "–"
    if np.isinf(value):
        return "∞"
    sign = "+" if signed else ""
    if design in SHARES:
        text = percent(value, sign)
    else:
        text = f"{value:{sign}.{1 if design == 'mushra' else 2}f}"
    return text.replace("-", "−")


def interval(design: Design, low: float, high: float, signed: bool = False) -> str:
    """[2.10, 2.52]; "–" where it is not known."""
    if np.isnan(low) or np.isnan(high):
        return "–"
    return f"[{number(design, low, signed)}, {number(design, high, signed)}]"


def p_value(p: float) -> str:
    """0.012, < 0.001, or "–"."""
    if np.isnan(p):
        return "–"
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def facts(results: Results) -> Iterator[str]:
    """The size of the test, a few words each."""
    kept = results.kept
    raters = counted(kept.raters, "rater")
    yield NAMES[results.test.design]
    yield f"{raters} of {results.started}" if results.exclusions else raters
    yield counted(len(kept.answers), "rating")
    yield counted(kept.stimuli, "stimulus")
    yield f"{results.finished} of {results.started} have finished"


def concluded(results: Results) -> str:
    """The verdict of those who are kept."""
    if results.kept.answers.empty and results.exclusions:
        return "Everyone is left out by the rules below, and so there is no result."
    return verdict(results.test, results.kept)


def overall(analysis: Analysis) -> Iterator[str]:
    """Sentences about all systems and raters together."""
    found = analysis.overall
    if found and not np.isnan(found["p"]):
        yield (
            f"All systems under test together, Friedman: χ²({found['df']:.0f}) = "
            f"{found['chi2']:.2f}, {found['raters']:.0f} raters, {_p(found['p'])}."
        )
    if not np.isnan(analysis.agreement):
        alpha = f"{analysis.agreement:.2f}".replace("-", "−")
        yield f"Agreement of the raters, Krippendorff’s α: {alpha}."


def verdict(test: Test, analysis: Analysis) -> str:
    """One or two sentences that say who won, or that it is not known."""
    if analysis.answers.empty:
        return "There are no ratings to go by, and so there is no result."
    if test.design in ("ab", "ccr", "abx"):
        return " ".join(_of_pairs(test.design, analysis.pairs))
    tested = analysis.systems[analysis.systems["system"].isin(test.systems)]
    if tested.empty:
        return "None of the systems under test has been rated yet."
    best = tested.iloc[0]
    value = number(test.design, best["value"])
    within = interval(test.design, best["low"], best["high"])
    measure = MEASURES[test.design].lower() if test.design not in ("acr", "dcr") else ""
    measure = measure or MEASURES[test.design]
    first = f"{best['system']}: {measure} {value} {within}".removesuffix(" –")
    if len(tested) == 1:
        return f"{first}."
    second = tested.iloc[1]["system"]
    pairs = analysis.pairs
    pair = pairs[(pairs["system"] == best["system"]) & (pairs["other"] == second)].iloc[0]
    gap = number(test.design, pair["value"])
    if np.isclose(pair["value"], 0):
        return f"{best['system']} and {second} are level. {first}."
    if np.isnan(pair["p_holm"]):
        return f"{best['system']} leads {second} by {gap}; there is too little yet to say more."
    if pair["p_holm"] < ALPHA:
        p = _p(pair["p_holm"])
        return f"{best['system']} was rated highest, {gap} above {second} ({p}). {first}."
    return (
        f"{best['system']} leads {second} by {gap}, but so much can be chance "
        f"({_p(pair['p_holm'])}). {first}."
    )


def _of_pairs(design: Design, pairs: Table) -> Iterator[str]:
    leader = pairs["system"].iloc[0]
    own = pairs if design == "abx" or len(pairs) <= MOST else pairs[pairs["system"] == leader]
    for pair in own.head(MOST).to_dict("records"):
        one, other = pair["system"], pair["other"]
        value, p = number(design, pair["value"]), _p(pair["p_holm"])
        if design == "abx":
            if pair["p_holm"] < ALPHA:
                yield f"{one} and {other} can be told apart: {value} right ({p})."
            else:
                yield f"That {one} and {other} can be told apart is not shown: {value} right ({p})."
        elif np.isnan(pair["p_holm"]):
            yield f"{one} against {other}: {value}; there is too little yet to say more."
        elif pair["p_holm"] >= ALPHA:
            yield f"Neither of {one} and {other} is shown to be better: {value} for {one} ({p})."
        elif design == "ab":
            yield f"{one} is preferred to {other} in {value} of votes ({p})."
        else:
            yield f"{one} is better than {other}, by {value} ({p})."
    if len(pairs) > MOST:
        yield "The table has all pairs."


def more_raters(test: Test, analysis: Analysis) -> Iterator[str]:
    """A sentence for each row of the plan."""
    for row in analysis.power.to_dict("records"):
        aimed = aim(test.design, row["difference"])
        raters, stimuli = row["more_raters"], row["more_stimuli"]
        if np.isnan(raters):
            yield f"{aimed}: more raters than a test can have."
        elif raters == 0 and stimuli == 0:
            yield f"{aimed}: the raters of this test are enough."
        elif stimuli == 0:
            yield f"{aimed}: about {counted(raters, 'more rater')}."
        else:
            yield (
                f"{aimed}: about {counted(raters, 'more rater')} and "
                f"{counted(stimuli, 'more stimulus')}; with these stimuli alone no number of "
                "raters is enough, for they differ too much."
            )


def aim(design: Design, difference: float) -> str:
    """The difference that one wants to find, in words."""
    if design == "ab":
        return f"A preference of {percent(0.5 + difference)} to {percent(0.5 - difference)}"
    if design == "abx":
        return f"{percent(0.5 + difference)} right where {percent(0.5)} is chance"
    if design == "similarity":
        return f"A difference of {100 * difference:.0f} percentage points"
    return f"A difference of {difference:g}"


def _p(p: float) -> str:
    text = p_value(p)
    return f"p {text if text.startswith('<') else f'= {text}'}".replace(" ", "\u00a0")


def counted(count: float, thing: str) -> str:
    """1 rater, 2 raters, 3 more stimuli."""
    if count != 1:
        thing = thing.removesuffix("us") + "i" if thing.endswith("us") else f"{thing}s"
    return f"{count:.0f} {thing}"
