"""Results in words: numbers as a paper prints them, the verdict, and how many more raters."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from earshot.study.analysis import scores
from earshot.study.analysis.estimates import LEVEL, Table, percent
from earshot.study.analysis.results import Analysis, Results
from earshot.study.design import Scale, Test
from earshot.study.design.designs import CCR, EVEN
from earshot.study.design.model import Staircase

ALPHA: Final = 1 - LEVEL
MAX_PAIRS: Final = 3  # in a verdict
TOO_LITTLE: Final = "There is too little yet to say."


def number(scale: Scale, value: float, signed: bool = False) -> str:
    """Print a value: 2.31, of shares 23 %; "–" where it is not known."""
    if np.isnan(value):
        return "–"
    if np.isinf(value):
        return "∞"
    sign = "+" if signed else ""
    text = percent(value, sign) if scale.shares else f"{value:{sign}.{scale.decimals}f}"
    return text.replace("-", "−")


def interval(scale: Scale, low: float, high: float, signed: bool = False) -> str:
    """Print an interval: [2.10, 2.52]; "–" where it is not known."""
    if np.isnan(low) or np.isnan(high):
        return "–"
    return f"[{number(scale, low, signed)}, {number(scale, high, signed)}]"


def p_value(p: float) -> str:
    """Print a p-value: 0.012, < 0.001, or "–"."""
    if np.isnan(p):
        return "–"
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def facts(results: Results) -> Iterator[str]:
    """Yield how large the test is, a few words each."""
    yield results.test.design.title
    if not results.started:
        return
    included = results.included
    raters = counted(included.raters, "rater")
    yield f"{raters} of {results.started}" if results.exclusions else raters
    number = sum(len(each.included.single) for each in results.by_scale)
    yield counted(number, results.scale.unit)
    yield counted(included.stimuli, "stimulus")
    yield f"{results.finished} of {results.started} have finished"


def attendance(results: Results) -> str:
    """Return how many took part, and how many of them the page or the rules leave out."""
    raters = counted(results.started, "rater")
    sentence = f"{raters}, {len(results.exclusions)} of them left out by the rules"
    conduct = results.conduct
    if conduct is None:
        return f"{sentence}."
    ends = (
        (conduct.failed_headphones, "screened out by the headphone check"),
        (conduct.failed_environment, "screened out by the test of their room"),
        (conduct.failed_attention, "screened out by attention checks"),
        (conduct.withdrew, "withdrew"),
        (conduct.unfinished, "not finished"),
    )
    others = ", ".join(f"{number} {end}" for number, end in ends if number)
    return f"{sentence}. {conduct.consented} agreed to take part{f': {others}' if others else ''}."


def conclusion(results: Results) -> str:
    """Return the verdict of those who are kept."""
    if results.included.answers.empty and results.exclusions:
        return "Everyone is left out by the rules below, and so there is no result."
    return " ".join(each.named(verdict(each.test, each.included)) for each in results.by_scale)


def overall(analysis: Analysis) -> Iterator[str]:
    """Yield what holds of all systems and raters together."""
    friedman = analysis.overall
    if friedman and not np.isnan(friedman["p"]):
        yield (
            f"All systems under test together, with these stimuli, Friedman: "
            f"χ²({friedman['df']:.0f}) = {friedman['chi2']:.2f}, {friedman['raters']:.0f} raters, "
            f"{_p(friedman['p'])}."
        )
    if "p_wilcoxon" in analysis.pairs:
        yield from _wilcoxon(analysis)
    if not np.isnan(analysis.agreement):
        alpha = f"{analysis.agreement:.2f}".replace("-", "−")
        yield f"Agreement of the raters, Krippendorff’s α: {alpha}."


def _wilcoxon(analysis: Analysis) -> Iterator[str]:
    """Yield what Wilcoxon's test finds, or that it can find nothing of so few raters."""
    ranked = analysis.pairs[analysis.pairs["p_wilcoxon_holm"].notna()]
    if ranked.empty:
        return
    apart = int((ranked["p_wilcoxon_holm"] < ALPHA).sum())
    raters, pairs = scores.by_rater(analysis.answers).shape[0], counted(len(ranked), "pair")
    least = min(len(ranked) * 2 / 2**raters, 1)
    sentence = (
        f"With these stimuli, Wilcoxon’s test of the raters’ means finds {apart} of {pairs} apart"
    )
    if least < ALPHA:
        yield f"{sentence}."
    else:
        yield (
            f"{sentence}; it cannot find any: with {counted(raters, 'rater')} and {pairs} its p "
            f"after Holm is {least:.2f} or more."
        )


def verdict(test: Test, analysis: Analysis) -> str:
    """Return in one or two sentences who won, or that it is not known."""
    if analysis.answers.empty:
        return "There are no ratings to go by, and so there is no result."
    scale = analysis.scale
    if test.staircase:
        return _of_staircase(test.staircase, analysis.threshold.iloc[0])
    if scale.of_pairs:
        return " ".join(_of_pairs(scale, analysis.pairs))
    tested = analysis.systems[analysis.systems["system"].isin(test.systems)]
    if tested.empty:
        return "None of the systems under test has been rated yet."
    best = tested.iloc[0]
    value = number(scale, best["value"])
    within = interval(scale, best["low"], best["high"])
    measure = scale.measure if scale.measure.isupper() else scale.measure.lower()
    if scale.adjusted:
        value = f"{value} dB"
    first = f"{best['system']}: {measure} {value} {within}".removesuffix(" –")
    if len(tested) == 1:
        return f"{first}."
    second = tested.iloc[1]["system"]
    pairs = analysis.pairs
    pair = pairs[(pairs["system"] == best["system"]) & (pairs["other"] == second)].iloc[0]
    gap = number(scale, abs(pair["value"]))
    if np.isclose(pair["value"], 0):
        return f"{best['system']} and {second} are level. {first}."
    if np.isnan(pair["p_holm"]):
        return f"{best['system']} leads {second} by {gap}; there is too little yet to say more."
    if pair["p_holm"] < ALPHA:
        p = _p(pair["p_holm"])
        if scale.typed:
            return f"{best['system']} was understood best, {gap} below {second} ({p}). {first}."
        done = "set" if scale.adjusted else "rated"
        return f"{best['system']} was {done} highest, {gap} above {second} ({p}). {first}."
    return (
        f"{best['system']} leads {second} by {gap}, but so much can be chance "
        f"({_p(pair['p_holm'])}). {first}."
    )


def _of_staircase(staircase: Staircase, row: Table) -> str:
    easiest, *_, hardest = (f"{level:g} {staircase.unit}" for level in staircase.levels.values())
    if row["beyond"] == "easiest":
        return f"Even at the easiest level, {easiest.strip()}, fewer than half were heard."
    if row["beyond"] == "hardest":
        return f"Even at the hardest level, {hardest.strip()}, more than half were heard."
    scale = replace(CCR.scale, decimals=staircase.decimals)
    value, within = number(scale, row["value"]), interval(scale, row["low"], row["high"])
    place = f"{value} {staircase.unit}".strip() + f" {within}".removesuffix(" –")
    return f"The threshold, where half of the differences are heard, lies at {place}."


def _of_pairs(scale: Scale, pairs: Table) -> Iterator[str]:
    leader = pairs["system"].iloc[0]
    few = scale.chance or len(pairs) <= MAX_PAIRS
    for pair in (
        (pairs if few else pairs[pairs["system"] == leader]).head(MAX_PAIRS).to_dict("records")
    ):
        one, other, p = pair["system"], pair["other"], pair["p_holm"]
        value = number(scale, pair["value"])
        if np.isnan(p):
            yield f"{one} against {other}: {value}; there is too little yet to say more."
        else:
            sentence = scale.significant if p < ALPHA else scale.insignificant
            yield sentence.format(one=one, other=other, value=value, p=_p(p))
    if len(pairs) > MAX_PAIRS:
        yield "The table has all pairs."


def more_raters(analysis: Analysis) -> Iterator[str]:
    """Yield what each row of the plan asks for, or a threshold twice as sure."""
    if len(analysis.threshold) and analysis.raters > 1:
        more = counted(3 * analysis.raters, "more rater")
        yield f"An interval half as wide: about {more}."
    for row in analysis.power.to_dict("records"):
        aimed = aim(analysis.scale, row["difference"])
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


def aim(scale: Scale, difference: float) -> str:
    """Return the difference that one wants to find."""
    more, less, even = (percent(share) for share in (EVEN + difference, EVEN - difference, EVEN))
    values = {"difference": difference, "points": 100 * difference}
    return scale.aim.format(more=more, less=less, even=even, **values)


def _p(p: float) -> str:
    text = p_value(p)
    return f"p {text if text.startswith('<') else f'= {text}'}".replace(" ", "\u00a0")


def counted(count: float, thing: str) -> str:
    """Count things: 1 rater, 2 raters, 3 more stimuli."""
    if count != 1:
        thing = thing.removesuffix("us") + "i" if thing.endswith("us") else f"{thing}s"
    return f"{count:.0f} {thing}"
