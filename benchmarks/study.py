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
from scipy.stats import binomtest, friedmanchisquare, kendalltau, norm

from benchmarks.study_adaptive import adaptive
from benchmarks.study_answers import ranked, thresholds, ticked_faults, word_errors
from benchmarks.study_intervals import coverage, rows
from earshot.study.analysis.estimates import (
    LEVEL,
    ROUNDING,
    Estimate,
    bounded,
    difference,
    holm,
    mean,
)
from earshot.study.analysis.paired_comparisons import bradley_terry, ranking
from earshot.study.analysis.power import at_null, plan
from earshot.study.analysis.scores import signed_rank
from earshot.study.simulation import MIDDLE, World, on_scale, votes

TESTS = 4_000  # simulated where there is no difference
OTHERS = 1_000  # of Bradley and Terry
N_PILOTS = 400  # pilots
ALPHA = 1 - LEVEL


def main() -> None:
    """Simulate, print, and write the tables."""
    sections = {
        "intervals": coverage,
        "no-difference": false_positives,
        "strengths": strengths,
        "adaptive": adaptive,
        "raters": planned,
        "words": word_errors,
        "faults": ticked_faults,
        "rankings": ranked,
        "staircases": thresholds,
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
    """Tabulate how often p < 0.05 where systems do not differ."""
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
        "MUSHRA, t of the interval, two systems, 20 raters × 8 stimuli": lambda rng: mushra(
            rng, 20, 8, 0.3
        )[:1],
        "… Wilcoxon on the same": lambda rng: mushra(rng, 20, 8, 0.3)[1:2],
        "… Friedman on the same, 5 systems": lambda rng: mushra(rng, 20, 8, 0.3)[2:],
        "MUSHRA, t of the interval, two systems, 8 raters × 10 stimuli": lambda rng: mushra(
            rng, 8, 10, 0.3
        )[:1],
        "MUSHRA, Wilcoxon, 20 raters, systems that suit no single stimuli": lambda rng: mushra(
            rng, 20, 10, 0
        )[1:2],
        "MUSHRA, Friedman, 20 raters, systems that suit no single stimuli": lambda rng: mushra(
            rng, 20, 10, 0
        )[2:],
        "MOS, looked at after every fourth of 40 raters until p < 0.05": looked_at,
    }
    yield f"## No difference: how often p < {ALPHA:g} ({TESTS:,} tests each)"
    yield ""
    yield "| test | found, % | plain binomial on the same votes, % |"
    yield "|---|---:|---:|"
    for seed, (name, test) in enumerate(tests.items()):
        rng = np.random.default_rng(seed)
        rejected = 100 * (np.array([test(rng) for _ in range(TESTS)]) < ALPHA).mean(axis=0)
        yield f"| {name} | {' | '.join(f'{share:.1f}' for share in rejected)} |" + (
            " |" if len(rejected) == 1 else ""
        )
    yield ""
    yield (
        "Raters and stimuli favour one system or another, but evenly; the plain binomial test "
        "takes this for a difference, and so do Wilcoxon's and Friedman's where systems suit "
        "single stimuli, for they speak of the stimuli at hand. In ABX nobody hears a difference. "
        "The last row is why estimates are hidden while a test runs."
    )


def mos(rng: np.random.Generator, raters: int, stimuli: int, systems: int) -> np.ndarray:
    """Find p of all pairs of equal systems, on a scale of 1 to 5."""
    thoughts = World().draw(rng, raters, stimuli, np.full(systems, MIDDLE))
    answer, rater, stimulus, system = rows(on_scale(thoughts))
    results = []
    for one in range(systems):
        for other in range(one + 1, systems):
            both = (system == one) | (system == other)
            first = system[both] == one
            results.append(difference(answer[both], first, rater[both], stimulus[both]).p)
    return np.array(results)


def preference(
    rng: np.random.Generator, raters: int, stimuli: int, indifference: float
) -> list[float]:
    """Find p of our test and of the plain binomial one between two equal systems."""
    answers = votes(World().draw(rng, raters, stimuli, np.zeros(2)), indifference)
    p = bounded(mean(*rows(answers[..., None])[:3], null=0.5), 0, 1)[2]
    won, lost = int((answers == 1).sum()), int((answers == 0).sum())
    return [p, float(binomtest(won, won + lost).pvalue)]


def abx(rng: np.random.Generator) -> list[float]:
    """Find p where nobody hears anything: each has a side they like, and X is tossed."""
    habits = rng.random((20, 1))
    right = (rng.random((20, 20)) < habits) == (rng.random((20, 20)) < 0.5)
    return [float(binomtest(int(right.sum()), right.size, alternative="greater").pvalue)]


def mushra(rng: np.random.Generator, raters: int, stimuli: int, fits: float) -> list[float]:
    """Find p of the difference of the first two of five equal systems, of Wilcoxon's test of it,
    and of Friedman's of all. fits: how far single stimuli suit a system, on the scale of 1 to 5."""
    thoughts = 60 + 15 * World(fits=fits).draw(rng, raters, stimuli, np.zeros(5))
    scores = np.clip(np.round(thoughts), 0, 100)
    answer, rater, stimulus, system = rows(scores[..., :2])
    pair = difference(answer, system == 0, rater, stimulus, ROUNDING)
    means = scores.mean(axis=1)
    ranked = signed_rank(means[:, 0] - means[:, 1])
    return [pair.p, ranked, float(friedmanchisquare(*means.T).pvalue)]


def looked_at(rng: np.random.Generator) -> list[float]:
    """Find the least p of two equal systems, of those after 8, 12 … 40 raters."""
    thoughts = on_scale(World().draw(rng, 40, 20, np.full(2, MIDDLE)))
    results = []
    for number in range(8, 41, 4):
        answer, rater, stimulus, system = rows(thoughts[:number])
        results.append(difference(answer, system == 0, rater, stimulus).p)
    return [min(results)]


def strengths() -> Iterator[str]:
    """Say how well Bradley–Terry recovers the order of six systems from 2,000 votes."""
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
        scale = bradley_terry(table, ranking(table)).set_index("system").loc[names]
        rank: Any = kendalltau(scale["value"], quality)
        taus.append(rank.statistic)
        perfect += taus[-1] > 0.999
        tables.append(scale[["value", "low", "high"]].to_numpy())
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
    """Tabulate how often a difference is found by tests of the size that a pilot asked for."""
    yield "## How many raters?"
    yield ""
    yield "| pilot of 10 raters × 20 stimuli | wanted | size asked for (median) | found, % |"
    yield "|---|---:|---:|---:|"
    for name, truth, test in (
        ("MOS, two systems", 0.3, _mos_test),
        ("AB", 0.1, _ab_test),
        ("ABX", 0.1, _abx_test),
    ):
        sizes, detected = [], []
        for seed in range(N_PILOTS):
            rng = np.random.default_rng(seed)
            estimate, chance = test(rng, 10, 20, truth)[0], name == "ABX"
            variance = at_null(estimate, 0, 1) if name == "AB" else estimate
            row = plan([variance], [truth], chance).iloc[0]
            if np.isnan(row["raters"]):
                continue
            sizes.append((row["raters"], row["stimuli"]))
            detected.append(test(rng, int(row["raters"]), int(row["stimuli"]), truth)[1] < ALPHA)
        raters, stimuli = np.median(sizes, axis=0)
        power = 100 * np.mean(detected)
        yield f"| {name} | {truth:g} | {raters:.0f} × {stimuli:.0f} | {power:.0f} |"
    yield ""
    yield (
        f"Over {N_PILOTS} pilots, whose plan is for 80 %; a pilot knows its variance only so well, "
        "so that tests planned from lucky ones find less."
    )


def _mos_test(
    rng: np.random.Generator, raters: int, stimuli: int, truth: float
) -> tuple[Estimate, float]:
    quality = MIDDLE + np.array([truth / 2, -truth / 2])
    thoughts = World(fits=0.15).draw(rng, raters, stimuli, quality)
    answer, rater, stimulus, system = rows(on_scale(thoughts))
    estimate = difference(answer, system == 0, rater, stimulus, ROUNDING)
    return estimate, estimate.p


def _ab_test(
    rng: np.random.Generator, raters: int, stimuli: int, truth: float
) -> tuple[Estimate, float]:
    world = World(fits=0.15)
    spread = np.sqrt(2 * (world.tastes**2 + world.fits**2 + world.noise**2))
    quality = np.array([float(norm.ppf(0.5 + truth)) * spread, 0])
    answers = votes(world.draw(rng, raters, stimuli, quality), 0)
    estimate = mean(*rows(answers[..., None])[:3], null=0.5)
    return estimate, bounded(estimate, 0, 1)[2]


def _abx_test(
    rng: np.random.Generator, raters: int, stimuli: int, truth: float
) -> tuple[Estimate, float]:
    """Test raters of whom half hear nothing, the others something."""
    hears = 0.5 + truth + np.where(rng.random((raters, 1)) < 0.5, truth, -truth)
    answers = (rng.random((raters, stimuli)) < hears) * 1.0
    estimate = mean(*rows(answers[..., None])[:3], null=0.5)
    p = binomtest(int(answers.sum()), answers.size, alternative="greater").pvalue
    return estimate, float(p)


if __name__ == "__main__":
    main()
