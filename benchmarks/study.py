"""python -m benchmarks.study: do the statistics of listening tests keep what they promise?

Made-up tests in which the truth is known, analysed as real ones are, for about ten minutes of one
core. Writes the sections of study.md; --parts makes some of them again.
"""

import argparse
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, friedmanchisquare, kendalltau, wilcoxon

from benchmarks.study_adaptive import adaptive
from benchmarks.study_intervals import coverage
from benchmarks.study_worlds import rows
from earshot.study.analysis.clustered import LEVEL, Estimate, difference, mean
from earshot.study.analysis.power import plan
from earshot.study.analysis.preference import bradley_terry, ranking
from earshot.study.analysis.tables import holm
from earshot.study.simulation.world import MIDDLE, World, on_scale, votes

TESTS = 10_000  # simulated where there is no difference
OTHERS = 1_000  # of Bradley and Terry, and planned ones
ALPHA = 1 - LEVEL


def main() -> None:
    """Simulate, print, and write the tables."""
    sections = {
        "intervals": coverage,
        "no-difference": false_positives,
        "strengths": strengths,
        "adaptive": adaptive,
        "raters": planned,
    }
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=[*sections], default=[*sections])
    chosen = parser.parse_args().parts
    file = Path(__file__).with_suffix(".md")
    head, *old = re.split(r"^(?=## )", file.read_text(), flags=re.MULTILINE)
    written = dict(zip(sections, old, strict=True))
    for name in chosen:
        written[name] = "\n".join(sections[name]()) + "\n\n"
        print(written[name], flush=True)
    file.write_text(head + "".join(written.values()).rstrip() + "\n")


def false_positives() -> Iterator[str]:
    """How often p < 0.05 where systems do not differ."""
    tests: dict[str, Callable[[np.random.Generator], list[float]]] = {
        "MOS, two systems, 20 raters × 20 stimuli": lambda rng: [mos(rng, 20, 20, 2).min()],
        "MOS, two systems, 8 raters × 20 stimuli": lambda rng: [mos(rng, 8, 20, 2).min()],
        "MOS, any of six pairs of 4 systems, after Holm": lambda rng: [
            holm(mos(rng, 20, 20, 4)).min()
        ],
        "AB, 20 raters × 20 stimuli": lambda rng: preference(rng, 20, 20, 0.0),
        "AB, 8 raters × 20 stimuli": lambda rng: preference(rng, 8, 20, 0.0),
        "AB, 20 raters × 20 stimuli, a third without preference": lambda rng: preference(
            rng, 20, 20, 0.4
        ),
        "ABX, exact binomial, 20 raters × 20 trials": abx,
        "MUSHRA, Friedman, 5 systems, 20 raters": lambda rng: mushra(rng, 20)[:1],
        "MUSHRA, Wilcoxon, two systems, 20 raters": lambda rng: mushra(rng, 20)[1:],
        "MUSHRA, Friedman, 5 systems, 8 raters": lambda rng: mushra(rng, 8)[:1],
    }
    yield f"## No difference: how often p < {ALPHA:g} ({TESTS:,} tests each)"
    yield ""
    yield "| test | found, % | plain binomial on the same votes, % |"
    yield "|---|---:|---:|"
    for seed, (name, test) in enumerate(tests.items()):
        rng = np.random.default_rng(seed)
        found = 100 * (np.array([test(rng) for _ in range(TESTS)]) < ALPHA).mean(axis=0)
        yield f"| {name} | {' | '.join(f'{share:.1f}' for share in found)} |" + (
            " |" if len(found) == 1 else ""
        )
    yield ""
    yield (
        "Raters and stimuli favour one system or another, but evenly; the plain binomial test "
        "takes this for a difference. In ABX nobody hears one; in MUSHRA raters have tastes, but "
        "stimuli have not, for Friedman's and Wilcoxon's tests speak of the stimuli at hand."
    )


def mos(rng: np.random.Generator, raters: int, stimuli: int, systems: int) -> np.ndarray:
    """p of all pairs of equal systems, on a scale of 1 to 5."""
    thoughts = World().draw(rng, raters, stimuli, np.full(systems, MIDDLE))
    answer, rater, stimulus, system = rows(on_scale(thoughts))
    found = []
    for one in range(systems):
        for other in range(one + 1, systems):
            both = (system == one) | (system == other)
            first = system[both] == one
            found.append(difference(answer[both], first, rater[both], stimulus[both]).p)
    return np.array(found)


def preference(
    rng: np.random.Generator, raters: int, stimuli: int, indifference: float
) -> list[float]:
    """p of our test and of the plain binomial one between two equal systems."""
    answers = votes(World().draw(rng, raters, stimuli, np.zeros(2)), indifference)
    estimate = mean(*rows(answers[..., None])[:3], null=0.5)
    won, lost = int((answers == 1).sum()), int((answers == 0).sum())
    return [estimate.p, float(binomtest(won, won + lost).pvalue)]


def abx(rng: np.random.Generator) -> list[float]:
    """p where nobody hears anything: each has a side they like, and X is tossed."""
    habits = rng.random((20, 1))
    right = (rng.random((20, 20)) < habits) == (rng.random((20, 20)) < 0.5)
    return [float(binomtest(int(right.sum()), right.size, alternative="greater").pvalue)]


def mushra(rng: np.random.Generator, raters: int) -> list[float]:
    """p of Friedman's test and of Wilcoxon's for the first two of five equal systems."""
    same = World(fits=0)
    thoughts = 60 + 15 * same.draw(rng, raters, 10, np.zeros(5))
    means = np.clip(np.round(thoughts), 0, 100).mean(axis=1)
    friedman = friedmanchisquare(*means.T).pvalue
    pair: Any = wilcoxon(means[:, 0] - means[:, 1])
    return [float(friedman), float(pair.pvalue)]


def strengths() -> Iterator[str]:
    """How well Bradley–Terry recovers the order of six systems from 2,000 votes."""
    names, quality = list("abcdef"), 0.3 * np.arange(5, -1, -1)
    taus, perfect, tables = [], 0, []
    for seed in range(OTHERS):
        rng = np.random.default_rng(seed)
        raters, stimuli = 40, 20
        # What a rater thinks of two systems differs by a logistic error at each vote.
        thoughts = World(tastes=0.3, fits=0.3, noise=0).draw(rng, raters, stimuli, quality)
        rater, stimulus = np.repeat(np.arange(raters), 50), rng.integers(stimuli, size=2000)
        one, other = np.array([rng.permutation(6)[:2] for _ in range(2000)]).T
        gap = thoughts[rater, stimulus, one] - thoughts[rater, stimulus, other]
        answer = (gap + rng.logistic(size=2000) > 0).astype(float)
        table = pd.DataFrame(
            {
                "rater": rater,
                "stimulus": stimulus,
                "system": np.array(names)[one],
                "other": np.array(names)[other],
                "answer": answer,
            }
        )
        found = bradley_terry(table, ranking(table)).set_index("system").loc[names]
        rank: Any = kendalltau(found["value"], quality)
        taus.append(rank.statistic)
        perfect += taus[-1] > 0.999
        tables.append(found[["value", "low", "high"]].to_numpy())
    value, low, high = np.moveaxis(np.array(tables), -1, 0)
    truth = value.mean(axis=0)
    held = ((low <= truth) & (truth <= high)).mean()
    yield "## Bradley–Terry: six systems, 2,000 votes of 40 raters about 20 stimuli"
    yield ""
    yield (
        f"Each system is preferred to the next by 57 %. Over {len(taus):,} tests Kendall's τ with "
        f"the true order is {np.mean(taus):.3f} on the average, and {perfect / len(taus):.0%} are "
        f"in perfect order; 95 % intervals hold the mean strength in {held:.1%}."
    )


def planned() -> Iterator[str]:
    """How often a difference is found by as many raters as a pilot test asked for."""
    wanted, world = 0.3, World(fits=0.15)
    quality = MIDDLE + np.array([wanted / 2, -wanted / 2])

    def test(rng: np.random.Generator, raters: int, stimuli: int) -> Estimate:
        thoughts = world.draw(rng, raters, stimuli, quality)
        answer, rater, stimulus, system = rows(on_scale(thoughts))
        return difference(answer, system == 0, rater, stimulus)

    asked, found = [], []
    for seed in range(OTHERS):
        rng = np.random.default_rng(seed)
        row = plan([test(rng, 10, 20)], [wanted]).iloc[0]
        asked.append(row["raters"])
        found.append(test(rng, int(row["raters"]), int(row["stimuli"])).p < ALPHA)
    yield "## How many raters?"
    yield ""
    yield (
        f"A pilot test of 10 raters and 20 stimuli says how many it takes to find a difference of "
        f"{wanted} with 80 %: {np.median(asked):.0f} raters at the median of {len(found):,} "
        f"pilots. Tests of the size that each asked for find it in "
        f"{np.mean(found):.0%}."
    )


if __name__ == "__main__":
    main()
