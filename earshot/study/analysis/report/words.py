"""Results in words: numbers as a paper prints them, the verdict, and how many more raters."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from earshot.study.analysis import mushra
from earshot.study.analysis.clustered import LEVEL
from earshot.study.analysis.results import Analysis, Results
from earshot.study.analysis.tables import Table, percent
from earshot.study.design import Design, Test

ALPHA: Final = 1 - LEVEL
MAX_PAIRS: Final = 3  # in a verdict
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
    """Print a value: 2.31, in MUSHRA 2.3, of shares 23 %; "–" where it is not known."""
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
    """Print an interval: [2.10, 2.52]; "–" where it is not known."""
    if np.isnan(low) or np.isnan(high):
        return "–"
    return f"[{number(design, low, signed)}, {number(design, high, signed)}]"


def p_value(p: float) -> str:
    """Print a p-value: 0.012, < 0.001, or "–"."""
    if np.isnan(p):
        return "–"
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def facts(results: Results) -> Iterator[str]:
    """Say how large the test is, a few words each."""
    kept = results.kept
    raters = counted(kept.raters, "rater")
    yield NAMES[results.test.design]
    yield f"{raters} of {results.started}" if results.exclusions else raters
    yield counted(len(kept.answers), "rating")
    yield counted(kept.stimuli, "stimulus")
    yield f"{results.finished} of {results.started} have finished"


def came(results: Results) -> str:
    """Say how many took part, and how many of them the page or the rules leave out."""
    raters = counted(results.started, "rater")
    said = f"{raters}, {len(results.exclusions)} of them left out by the rules"
    conduct = results.conduct
    if conduct is None:
        return f"{said}."
    ends = (
        (conduct.failed_headphones, "screened out by the headphone check"),
        (conduct.failed_attention, "screened out by attention checks"),
        (conduct.withdrew, "withdrew"),
        (conduct.unfinished, "not finished"),
    )
    others = ", ".join(f"{number} {end}" for number, end in ends if number)
    return f"{said}. {conduct.consented} agreed to take part{f': {others}' if others else ''}."


def concluded(results: Results) -> str:
    """Say the verdict of those who are kept."""
    if results.kept.answers.empty and results.exclusions:
        return "Everyone is left out by the rules below, and so there is no result."
    return verdict(results.test, results.kept)


def overall(analysis: Analysis) -> Iterator[str]:
    """Say what holds of all systems and raters together."""
    found = analysis.overall
    if found and not np.isnan(found["p"]):
        yield (
            f"All systems under test together, with these stimuli, Friedman: "
            f"χ²({found['df']:.0f}) = {found['chi2']:.2f}, {found['raters']:.0f} raters, "
            f"{_p(found['p'])}."
        )
    if "p_wilcoxon" in analysis.pairs:
        yield from _wilcoxon(analysis)
    if not np.isnan(analysis.agreement):
        alpha = f"{analysis.agreement:.2f}".replace("-", "−")
        yield f"Agreement of the raters, Krippendorff’s α: {alpha}."


def _wilcoxon(analysis: Analysis) -> Iterator[str]:
    """Say what Wilcoxon's test finds of these stimuli, or that so few raters find nothing by it."""
    ranked = analysis.pairs[analysis.pairs["p_wilcoxon_holm"].notna()]
    if ranked.empty:
        return
    apart = int((ranked["p_wilcoxon_holm"] < ALPHA).sum())
    raters, pairs = mushra.by_rater(analysis.answers).shape[0], counted(len(ranked), "pair")
    least = min(len(ranked) * 2 / 2**raters, 1)
    said = (
        f"With these stimuli, Wilcoxon’s test of the raters’ means finds {apart} of {pairs} apart"
    )
    if least < ALPHA:
        yield f"{said}."
    else:
        yield (
            f"{said}; it cannot find any: with {counted(raters, 'rater')} and {pairs} its p after "
            f"Holm is {least:.2f} or more."
        )


def verdict(test: Test, analysis: Analysis) -> str:
    """Say in one or two sentences who won, or that it is not known."""
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
    own = pairs if design == "abx" or len(pairs) <= MAX_PAIRS else pairs[pairs["system"] == leader]
    for pair in own.head(MAX_PAIRS).to_dict("records"):
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
    if len(pairs) > MAX_PAIRS:
        yield "The table has all pairs."


def more_raters(test: Test, analysis: Analysis) -> Iterator[str]:
    """Say what each row of the plan asks for."""
    for row in analysis.power.to_dict("records"):
        aimed = aim(test.design, row["difference"])
        raters, stimuli = row["more_raters"], row["more_stimuli"]
        if np.isnan(raters):
            yield f"{aimed}: more raters and stimuli than a test can have."
            continue
        if raters == 0 and stimuli == 0:
            yield f"{aimed}: the raters of this test are enough."
            continue
        least = " and ".join(
            counted(number, f"more {thing}")
            for number, thing in ((raters, "rater"), (stimuli, "stimulus"))
            if number
        )
        others = [
            counted(row[f"{name}_alone"], f"more {thing}")
            for name, thing, other in (
                ("raters", "rater", stimuli),
                ("stimuli", "stimulus", raters),
            )
            if other and not np.isnan(row[f"{name}_alone"])
        ]
        instead = f" (or {', or '.join(others)}, with no more of the other)" if others else ""
        yield f"{aimed}: about {least}{instead}."


def aim(design: Design, difference: float) -> str:
    """Say the difference that one wants to find."""
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
    """Count things: 1 rater, 2 raters, 3 more stimuli."""
    if count != 1:
        thing = thing.removesuffix("us") + "i" if thing.endswith("us") else f"{thing}s"
    return f"{count:.0f} {thing}"
