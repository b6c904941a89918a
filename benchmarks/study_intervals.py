"""How often 95 % intervals of mean opinion scores hold the truth, for benchmarks.study."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import ttest_1samp
from statsmodels.formula.api import mixedlm

from earshot.study.analysis.estimates import ROUNDING, Estimate, bounded, difference, mean
from earshot.study.simulation import MIDDLE, World, on_scale

TESTS = 2_000
RIVALS = 300  # tests for other methods, of which a mixed model is slow
N_RESAMPLES = 1_000  # times a bootstrap draws
SYSTEMS = 4
SIZES = ((20, 20), (8, 20), (8, 8), (30, 10))  # raters, stimuli
ENDS = 1_000  # tests near the end of a scale
LARGE = 1_500  # raters and stimuli from whom the truth is known
USUAL = "as usual"
WORLDS = {
    "as usual": World(),
    "raters differ most": World(0.8, 0.1, 0.3, 0.1, 0.5),
    "stimuli differ most": World(0.2, 0.6, 0.1, 0.5, 0.6),
}


def coverage() -> Iterator[str]:
    """Tabulate the shares of intervals that hold the truth."""
    yield "## Intervals: how often 95 % hold the truth"
    yield ""
    yield f"| {SYSTEMS} systems, {TESTS:,} tests | world | mean, % | difference of two, % |"
    yield "|---|---|---:|---:|"
    for raters, stimuli in SIZES:
        for name in WORLDS:
            shares = " | ".join(f"{100 * s:.1f}" for s in covered(raters, stimuli, name))
            yield f"| {raters} raters × {stimuli} stimuli | {name} | {shares} |"
    for raters, stimuli in SIZES[:2]:
        shares = " | ".join(f"{100 * s:.1f}" for s in covered(raters, stimuli, USUAL, True))
        yield f"| {raters} × {stimuli}, one system of each stimulus | {USUAL} | {shares} |"
    yield ""
    yield from near_ends()
    yield (
        "The variance has raters and stimuli as clusters (Cameron, Gelbach and Miller 2011), each "
        "by the jackknife, with Satterthwaite's degrees of freedom; on a scale with ends Wilson's "
        "interval with the effective number of answers. Other ways to the interval of a mean:"
    )
    yield ""
    yield (
        f"| {RIVALS} tests, {USUAL} | ours, % | as if independent, % | raters alone, % "
        "| pigeonhole bootstrap, % | mixed model, % |"
    )
    yield "|---|---:|---:|---:|---:|---:|"
    for raters, stimuli in SIZES:
        shares = " | ".join(f"{100 * share:.1f}" for share in rivals(raters, stimuli))
        yield f"| {raters} raters × {stimuli} stimuli | {shares} |"
    yield ""
    yield (
        "As if independent: t of all ratings. Raters alone: t of the raters' means. Pigeonhole: "
        "Owen (2007), percentiles. Mixed model: crossed random effects by statsmodels, Wald. Ours "
        "needs no resampling, gives p with the interval, and does not fail to converge. So few "
        "tests leave 2.5 points of doubt."
    )


def covered(raters: int, stimuli: int, world: str, partial: bool = False) -> np.ndarray:
    """Measure the shares for a mean, and for a difference; partial: whoever hears a stimulus
    hears it from one system only.
    """
    rng, truth = np.random.default_rng(raters * stimuli), WORLDS[world].mos
    rater, stimulus, system = np.indices((raters, stimuli, SYSTEMS))
    keep = (rater + stimulus) % SYSTEMS == system if partial else True
    hits = []
    for _ in range(TESTS):
        answer, rater, stimulus, system = rows(_answers(rng, raters, stimuli, world), keep)
        own, two = system == 0, system < 2
        one = mean(answer[own], rater[own], stimulus[own])
        gap = difference(answer[two], system[two] == 0, rater[two], stimulus[two])
        low, high, _ = bounded(one, 1, 5)
        hits.append((low <= truth <= high, gap.low <= 0 <= gap.high))
    return np.mean(hits, axis=0)


def near_ends() -> Iterator[str]:
    """Tabulate how often intervals hold the truth where most answers are at one end, and where a
    few raters gave most of them."""
    yield f"| {ENDS:,} tests | raters × stimuli | truth | t, cut, % | ours, % | at least, % |"
    yield "|---|---|---:|---:|---:|---:|"
    below = []
    for name, quality, sizes, heavy, floor in (
        ("MOS at the ceiling", 5.6, SIZES, False, 92),
        ("MOS near it", 5.2, SIZES, False, 92),
        ("share", 1.67, SIZES, False, 93),
        ("share near the end", 2.0, SIZES, False, 92),
        ("MOS, few raters", MIDDLE, ((5, 60), (4, 20)), False, 93),
        ("MOS, three heavy raters", MIDDLE, ((12, 30), (20, 40)), True, 93),
        ("share, three heavy raters", 0.7, ((12, 30), (20, 40)), True, 93),
        ("share near the end, three heavy raters", 2.0, ((12, 30),), True, 92),
    ):
        share = name.startswith("share")
        for raters, stimuli in sizes:
            truth, cut, ours = held_near_end(share, quality, raters, stimuli, heavy)
            label = f"{100 * truth:.0f} %" if share else f"{truth:.2f}"
            size = f"{raters} × {stimuli}"
            below += [f"{name}, {size}"] if ours < floor else []
            yield f"| {name} | {size} | {label} | {cut:.1f} | {ours:.1f} | {floor} |"
    yield ""
    yield (
        "Heavy raters heard everything, the others one sound in eight. Below its floor is "
        f"{'; '.join(below) or 'none'}; so few tests leave 1.4 points of doubt."
    )
    yield ""


def held_near_end(
    share: bool, quality: float, raters: int, stimuli: int, heavy: bool
) -> tuple[float, float, float]:
    """Find the truth, and the shares (%) of t intervals cut at the ends, and of ours, that hold it.
    share: of votes for a system of this quality against one of 0; else its mean opinion score."""
    world, systems = World(), np.array([quality, 0.0])

    def answers(rng: np.random.Generator, raters: int, stimuli: int) -> np.ndarray:
        thoughts = world.draw(rng, raters, stimuli, systems)
        return (thoughts[..., 0] > thoughts[..., 1]) * 1.0 if share else on_scale(thoughts[..., 0])

    truth = float(answers(np.random.default_rng(1), LARGE, LARGE).mean())
    low, high = (0, 1) if share else (1, 5)
    rng, hits = np.random.default_rng(raters * stimuli), []
    for _ in range(ENDS):
        table = answers(rng, raters, stimuli)
        rated = rng.random(table.shape) < 1 / 8 if heavy else np.ones(table.shape, bool)
        rated[:3] = True
        rater, stimulus = (np.unique(each, return_inverse=True)[1] for each in np.nonzero(rated))
        estimate = mean(table[rated], rater, stimulus, rounding=0 if share else ROUNDING)
        ends = bounded(estimate, low, high)[:2]
        hits.append((_holds(estimate, truth), ends[0] <= truth <= ends[1]))
    return truth, *(100 * np.mean(hits, axis=0))


def _holds(estimate: Estimate, truth: float) -> bool:
    return bool(estimate.low <= truth <= estimate.high)


def rivals(raters: int, stimuli: int) -> np.ndarray:
    """Find the shares for a mean, by our method and the others in the order of their table."""
    rng, truth = np.random.default_rng(1), WORLDS[USUAL].mos
    hits = []
    for _ in range(RIVALS):
        table = _answers(rng, raters, stimuli, USUAL)[..., 0]
        answer, rater, stimulus, _ = rows(table[..., None])
        ours = mean(answer, rater, stimulus)
        intervals = (
            bounded(ours, 1, 5)[:2],
            ttest_1samp(answer, 0).confidence_interval(),
            ttest_1samp(table.mean(axis=1), 0).confidence_interval(),
            pigeonhole(rng, table),
            mixed_model(answer, rater, stimulus),
        )
        hits.append([low <= truth <= high for low, high in intervals])
    return np.mean(hits, axis=0)


def pigeonhole(rng: np.random.Generator, table: np.ndarray) -> np.ndarray:
    """Find the percentile interval of the mean of table (R, S), raters and stimuli drawn anew."""
    by_rater, by_stimulus = (
        rng.multinomial(n, np.full(n, 1 / n), N_RESAMPLES) / n for n in table.shape
    )
    means = ((by_rater @ table) * by_stimulus).sum(axis=1)
    return np.quantile(means, [0.025, 0.975])


def mixed_model(answer: np.ndarray, rater: np.ndarray, stimulus: np.ndarray) -> np.ndarray:
    """Find the Wald interval of the mean answer (N,), with random effects of raters and of stimuli
    (N,)."""
    data = pd.DataFrame({"answer": answer, "rater": rater, "stimulus": stimulus, "all": 1})
    crossed = {"rater": "0 + C(rater)", "stimulus": "0 + C(stimulus)"}
    fit = mixedlm("answer ~ 1", data, groups="all", vc_formula=crossed).fit()
    return fit.conf_int().loc["Intercept"].to_numpy()


def _answers(rng: np.random.Generator, raters: int, stimuli: int, world: str) -> np.ndarray:
    return on_scale(WORLDS[world].draw(rng, raters, stimuli, np.full(SYSTEMS, MIDDLE)))


def rows(
    answers: np.ndarray, keep: np.ndarray | bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Turn answers (R, S, K) into columns: answer, rater, stimulus, system; only those to keep."""
    rated = np.broadcast_to(keep, answers.shape)
    rater, stimulus, system = np.nonzero(rated)
    return answers[rated], rater, stimulus, system
