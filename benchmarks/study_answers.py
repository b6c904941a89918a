"""How often intervals of word error rates, of faults that raters tick, of thresholds by staircases,
and of rankings (shares, and strengths of Plackett and Luce) are right, for benchmarks.study."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import norm

from earshot.study.analysis import rankings, scores
from earshot.study.analysis.estimates import LEVEL, Estimate, Table, bounded, estimate_row, mean
from earshot.study.analysis.paired_comparisons import centred
from earshot.study.analysis.staircases import psychometric
from earshot.study.design.model import Staircase
from earshot.study.simulation import World

TESTS = 500
TICKED = (0.05, 0.2, 0.4)  # of the sounds of a system, with a fault
TICKING = 0.5, 0.7  # SD of raters and of sentences on a normal scale, whose noise has 1
SIZES = ((20, 20), (12, 12), (8, 20))  # raters, sentences
RATES = (0.05, 0.2, 0.5)  # of words that are not understood
SPREAD = 0.3  # SD of a rater's rate, and of a sentence's, as a share of the rate
WORDS = np.arange(4, 10)  # in a sentence, as those that are semantically unpredictable have
RANKING_TESTS = 1_000
RANKING_SIZES = ((20, 20), (8, 20), (30, 10))  # raters, stimuli
SYSTEMS = 4
APART = np.array([0.6, 0.2, -0.2, -0.6])  # quality, on the scale of 1 to 5
N_TRUE_RANKINGS = 400_000  # rankings from which the truth is known
ALPHA = 1 - LEVEL
STAIRCASE_TESTS = 1_000
STAIRCASE = Staircase({f"y{level}": float(level) for level in range(10, -1, -1)})
THRESHOLD = 4.0
# Raters, trials of each, SD of raters' thresholds and of stimuli's, width of the function, slips.
STAIRCASE_WORLDS = (
    (20, 40, 1.0, 0.5, 1.0, 0.02),
    (8, 40, 1.0, 0.5, 1.0, 0.02),
    (8, 60, 1.5, 0.3, 0.7, 0.0),
    (12, 40, 2.0, 0.5, 1.0, 0.02),
    (30, 20, 1.0, 0.0, 1.0, 0.02),
    (6, 40, 0.2, 0.0, 1.0, 0.02),
    (20, 30, 0.5, 0.5, 1.0, 0.05),
)
STIMULI = 12


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


def ranked() -> Iterator[str]:
    """Tabulate how often intervals of systems that differ hold the truth, and how often p < 0.05
    where they do not."""
    yield f"## Rankings ({RANKING_TESTS:,} tests each, {SYSTEMS} systems in a trial)"
    yield ""
    yield (
        "| raters × stimuli | share above: held, % | p < 0.05 without difference, % "
        "| strength: held, % | difference of strengths: held, % | p < 0.05 without difference, % |"
    )
    yield "|---|---:|---:|---:|---:|---:|"
    truth = _truth()
    for raters, stimuli in RANKING_SIZES:
        rng = np.random.default_rng(raters * stimuli)
        held = [_rankings_held(rng, raters, stimuli, APART, truth) for _ in range(RANKING_TESTS)]
        significant = [_significant(rng, raters, stimuli) for _ in range(RANKING_TESTS)]
        apart, alike = np.mean(held, axis=0), np.mean(significant, axis=0)
        values = [apart[0], alike[0], apart[1], apart[2], alike[1]]
        yield f"| {raters} × {stimuli} | {' | '.join(f'{100 * v:.1f}' for v in values)} |"
    yield ""
    yield (
        "Raters order what they think, which is normal and not as Plackett and Luce have it: the "
        f"true strengths are those of {N_TRUE_RANKINGS:,} rankings. Raters and stimuli favour one "
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
    best_first = np.argsort(-rng.normal(APART, spread, (N_TRUE_RANKINGS, SYSTEMS)), axis=1)
    nobody = np.zeros(N_TRUE_RANKINGS, int)
    clustered, weights = rankings.fit(best_first, nobody, nobody), centred(SYSTEMS)
    places = np.argsort(best_first, axis=1)
    strengths = [clustered.estimate(each).value for each in (weights[0], weights[0] - weights[1])]
    return np.array([(places[:, 0] < places[:, 1]).mean(), *strengths])


def _rankings_held(
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


def thresholds() -> Iterator[str]:
    """Tabulate how often the interval of the threshold holds the true one."""
    yield f"## Staircases: how often 95 % hold the threshold ({STAIRCASE_TESTS:,} tests each)"
    yield ""
    yield ("| raters × trials | SD of raters | of stimuli | width | slips, % | off by | held, % |")
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for raters, trials, spread, unlike, width, slips in STAIRCASE_WORLDS:
        rng, outcomes = np.random.default_rng(raters * trials), []
        for _ in range(STAIRCASE_TESTS):
            table, truth = draw_staircases(rng, raters, trials, spread, unlike, width, slips)
            estimate = psychometric(STAIRCASE, table).threshold
            outcomes.append((estimate.value - truth, estimate.low <= truth <= estimate.high))
        off, held = np.array(outcomes).T
        yield (
            f"| {raters} × {trials} | {spread:g} | {unlike:g} | {width:g} | {100 * slips:g} "
            f"| {np.nanmean(off):+.2f} | {100 * held.mean():.1f} |"
        )
    yield ""
    yield (
        "Levels from 10 to 0 in steps of 1; two right in a row lead to a harder one, one wrong to "
        f"an easier one. The true threshold is {THRESHOLD:g} and what these {STIMULI} stimuli add. "
        "Off by: on the average, of tests whose threshold lies among the levels. The analysis "
        "takes 2 % of answers for slips, whatever they are: where raters slip far more often, the "
        "threshold comes out too easy, and is held less often. So many tests leave 1.4 points of "
        "doubt."
    )


def draw_staircases(
    rng: np.random.Generator,
    raters: int = 20,
    trials: int = 40,
    spread: float = 1.0,
    unlike: float = 0.5,
    width: float = 1.0,
    slips: float = 0.02,
) -> tuple[pd.DataFrame, float]:
    """Draw the answers of raters on staircases, and the threshold with these stimuli."""
    stimuli = unlike * rng.normal(size=STIMULI)
    rows = []
    for rater in range(raters):
        own = THRESHOLD + spread * rng.normal()
        order = np.concatenate([rng.permutation(STIMULI) for _ in range(trials // STIMULI + 1)])
        right: list[bool] = []
        for place, stimulus in enumerate(order[:trials]):
            system = STAIRCASE.next_level(right)
            ahead = (STAIRCASE.levels[system] - own - stimuli[stimulus]) / width
            right.append(bool(rng.random() < 0.5 + (0.5 - slips) / (1 + np.exp(-ahead))))
            rows.append((f"r{rater}", f"s{stimulus}", system, float(right[-1]), place))
    columns = ["rater", "stimulus", "system", "answer", "order"]
    return pd.DataFrame(rows, columns=columns), THRESHOLD + float(stimuli.mean())
