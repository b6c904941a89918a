"""Rankings of benchmarks.study: are shares, and strengths of Plackett and Luce, as sure as they
say?"""

from collections.abc import Iterator

import numpy as np

from earshot.study.analysis import rankings
from earshot.study.analysis.estimates import LEVEL, Estimate, bounded, mean
from earshot.study.analysis.paired_comparisons import centred
from earshot.study.simulation import World

TESTS = 1_000
SIZES = ((20, 20), (8, 20), (30, 10))  # raters, stimuli
SYSTEMS = 4
APART = np.array([0.6, 0.2, -0.2, -0.6])  # quality, on the scale of 1 to 5
LARGE = 400_000  # rankings from which the truth is known
ALPHA = 1 - LEVEL


def ranked() -> Iterator[str]:
    """Tabulate how often intervals of systems that differ hold the truth, and how often p < 0.05
    where they do not."""
    yield f"## Rankings ({TESTS:,} tests each, {SYSTEMS} systems in a trial)"
    yield ""
    yield (
        "| raters × stimuli | share above: held, % | p < 0.05 without difference, % "
        "| strength: held, % | difference of strengths: held, % | p < 0.05 without difference, % |"
    )
    yield "|---|---:|---:|---:|---:|---:|"
    truth = _truth()
    for raters, stimuli in SIZES:
        rng = np.random.default_rng(raters * stimuli)
        apart = np.mean([_held(rng, raters, stimuli, APART, truth) for _ in range(TESTS)], axis=0)
        alike = np.mean([_significant(rng, raters, stimuli) for _ in range(TESTS)], axis=0)
        values = [apart[0], alike[0], apart[1], apart[2], alike[1]]
        yield f"| {raters} × {stimuli} | {' | '.join(f'{100 * v:.1f}' for v in values)} |"
    yield ""
    yield (
        "Raters order what they think, which is normal and not as Plackett and Luce have it: the "
        f"true strengths are those of {LARGE:,} rankings. Raters and stimuli favour one "
        "system or another, but evenly. What is held is the first system's share above the second, "
        "its strength, and its difference from the second. So many tests leave 1.4 points of doubt."
    )


def _draw(rng: np.random.Generator, raters: int, stimuli: int, quality: np.ndarray) -> np.ndarray:
    """Rank the systems (R·S, K), the best first."""
    thoughts = World().draw(rng, raters, stimuli, quality)
    return np.argsort(-thoughts, axis=-1).reshape(-1, len(quality))


def _estimates(best_first: np.ndarray, raters: int, stimuli: int) -> tuple[Estimate, ...]:
    """Estimate the share in which the first system stands above the second, its strength, and the
    difference of both strengths."""
    rater, stimulus = (each.ravel() for each in np.indices((raters, stimuli)))
    places = np.argsort(best_first, axis=1)
    above = (places[:, 0] < places[:, 1]).astype(float)
    clustered, weights = rankings.fit(best_first, rater, stimulus), centred(SYSTEMS)
    strengths = (clustered.estimate(each) for each in (weights[0], weights[0] - weights[1]))
    return mean(above, rater, stimulus, null=0.5), *strengths


def _truth() -> np.ndarray:
    """Find share, strength and difference of very many rankings, each of a rater and a stimulus of
    its own, whose variance nobody needs."""
    world, rng = World(), np.random.default_rng(1)
    spread = np.linalg.norm([world.tastes, world.fits, world.noise])
    best_first = np.argsort(-rng.normal(APART, spread, (LARGE, SYSTEMS)), axis=1)
    nobody = np.zeros(LARGE, int)
    clustered, weights = rankings.fit(best_first, nobody, nobody), centred(SYSTEMS)
    places = np.argsort(best_first, axis=1)
    strengths = [clustered.estimate(each).value for each in (weights[0], weights[0] - weights[1])]
    return np.array([(places[:, 0] < places[:, 1]).mean(), *strengths])


def _held(
    rng: np.random.Generator, raters: int, stimuli: int, quality: np.ndarray, truth: np.ndarray
) -> list[bool]:
    share, *strengths = _estimates(_draw(rng, raters, stimuli, quality), raters, stimuli)
    low, high, _ = bounded(share, 0, 1)
    ends = [(low, high), *((each.low, each.high) for each in strengths)]
    return [bool(low <= value <= high) for (low, high), value in zip(ends, truth, strict=True)]


def _significant(rng: np.random.Generator, raters: int, stimuli: int) -> list[bool]:
    best_first = _draw(rng, raters, stimuli, np.zeros(SYSTEMS))
    share, _, difference = _estimates(best_first, raters, stimuli)
    return [bounded(share, 0, 1)[2] < ALPHA, difference.p < ALPHA]
