"""How often intervals of word error rates, and of faults that raters tick, hold the truth, for
benchmarks.study."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import norm

from earshot.study.analysis import scores
from earshot.study.analysis.estimates import Table, estimate_row, mean

TESTS = 500
TICKED = (0.05, 0.2, 0.4)  # of the sounds of a system, with a fault
TICKING = 0.5, 0.7  # SD of raters and of sentences on a normal scale, whose noise has 1
SIZES = ((20, 20), (12, 12), (8, 20))  # raters, sentences
RATES = (0.05, 0.2, 0.5)  # of words that are not understood
SPREAD = 0.3  # SD of a rater's rate, and of a sentence's, as a share of the rate
WORDS = np.arange(4, 10)  # in a sentence, as those that are semantically unpredictable have


def word_errors() -> Iterator[str]:
    """Tabulate intervals that hold the truth, and differences found where there is none."""
    yield "## Word error rates: how often 95 % hold the truth, and p < 0.05 where systems are alike"
    yield ""
    yield f"| {TESTS} tests | errors, % | interval, % | difference found, % |"
    yield "|---|---:|---:|---:|"
    for raters, sentences in SIZES:
        for rate in RATES:
            held, significant = (
                f"{100 * share:.1f}" for share in measured(raters, sentences, rate)
            )
            yield f"| {raters} raters × {sentences} | {100 * rate:.0f} | {held} | {significant} |"
    yield ""
    yield (
        f"Raters and sentences have rates of their own (SD {SPREAD:g} of the rate), which two "
        f"systems share; sentences have {WORDS.min()} to {WORDS.max()} words. So few tests leave 2 "
        "points of doubt."
    )


def ticked_faults() -> Iterator[str]:
    """Tabulate intervals of a fault's share that hold the truth."""
    yield "## Faults that raters tick: how often 95 % hold the share"
    yield ""
    yield f"| {TESTS} tests | ticked, % | interval, % |"
    yield "|---|---:|---:|"
    for raters, sentences in SIZES:
        for share in TICKED:
            held = 100 * ticks_held(raters, sentences, share)
            yield f"| {raters} raters × {sentences} | {100 * share:.0f} | {held:.1f} |"
    yield ""
    yield (
        "Raters tick a fault more or less readily, and sentences have it more or less often (SD "
        f"{TICKING[0]:g} and {TICKING[1]:g} on a normal scale). So few tests leave 2 points of "
        "doubt."
    )


def ticks_held(raters: int, sentences: int, share: float) -> float:
    """Find the share of intervals that hold the share of all sounds in which a fault is ticked."""
    rng = np.random.default_rng(round(1000 * share) + raters * sentences)
    middle = norm.ppf(share) * np.sqrt(1 + sum(each**2 for each in TICKING))
    rater, sentence = (each.ravel() for each in np.indices((raters, sentences)))
    held = 0
    for _ in range(TESTS):
        own, fits = (
            spread * rng.normal(size=number)
            for spread, number in zip(TICKING, (raters, sentences), strict=True)
        )
        ticks = rng.normal(size=len(rater)) < middle + own[rater] + fits[sentence]
        row = estimate_row(mean(ticks.astype(float), rater, sentence), (0, 1))
        held += row["low"] <= share <= row["high"]
    return held / TESTS


def measured(raters: int, sentences: int, rate: float) -> tuple[float, float]:
    """Find the share of intervals of one system that hold the rate, and of tests of two systems
    with this rate that tell them apart."""
    rng = np.random.default_rng(round(1000 * rate) + raters * sentences)
    words = {f"s{k}": int(WORDS[k % len(WORDS)]) for k in range(sentences)}
    held = significant = 0
    for _ in range(TESTS):
        answers = scores.by_words(_answers(rng, raters, words, rate), words)
        own = scores.systems(answers, (0, 1)).set_index("system").loc["x"]
        held += own["low"] <= rate <= own["high"]
        pairs = scores.pairs(scores.differences(answers, ["x", "y"], rounding=0.0))
        significant += bool((pairs["p"] < 0.05).any())
    return held / TESTS, significant / TESTS


def _answers(rng: np.random.Generator, raters: int, words: dict[str, int], rate: float) -> Table:
    """Make the tidy answers of raters to both systems with every sentence."""
    count = np.array([*words.values()])
    own = SPREAD * rng.normal(size=(raters, 1, 1)) + SPREAD * rng.normal(size=(1, len(words), 1))
    lost = np.clip(rate * (1 + own), 0, 1) * np.ones((1, 1, 2))
    errors = rng.binomial(count[:, None], lost) / count[:, None]
    rater, sentence, system = (each.ravel() for each in np.indices(errors.shape))
    return pd.DataFrame(
        {
            "rater": rater,
            "stimulus": np.array([*words])[sentence],
            "system": np.array(["x", "y"])[system],
            "answer": errors.ravel(),
        }
    )
