"""How often intervals of word error rates hold the truth, for benchmarks.study."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from earshot.study.analysis import scores
from earshot.study.analysis.estimates import Table

TESTS = 500
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
