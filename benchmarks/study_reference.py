"""python -m benchmarks.study_reference: our statistics next to published values, and to R's.

Small tables, typed in from the sources that are named, are analysed by us and, where Rscript is
installed, by R (packages sandwich, lme4, BradleyTerry2, coin and irr; without one, its cell stays
empty). Prints the table of docs/listening_tests.md, and fails where a value is not the published
one.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare

from earshot.study.analysis.estimates import Estimate as Known
from earshot.study.analysis.estimates import Variance, bounded, holm, mean
from earshot.study.analysis.paired_comparisons import bradley_terry
from earshot.study.analysis.results import krippendorff
from earshot.study.analysis.scores import signed_rank

# Six targets by four judges: Shrout and Fleiss (1979), Psychological Bulletin 86, table 2.
JUDGES: Final = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)
EVERYTHING: Final = np.ones(JUDGES.shape, bool)
UNEVEN: Final = np.arange(6)[:, None] < np.array([6, 6, 2, 1])  # targets that each has rated
# Citations of a journal (rows) by another (columns): Stigler (1994), Statistical Science 9, as in
# Turner and Firth (2012), Journal of Statistical Software 48(9).
JOURNALS: Final = ("Biometrika", "Communications", "JASA", "JRSS-B")
CITED: Final = np.array(
    [[714, 730, 498, 221], [33, 425, 68, 17], [320, 813, 1072, 142], [284, 276, 325, 188]]
)
# Four observers of twelve units: Krippendorff (2011), section C; 0 where there is none.
OBSERVERS: Final = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ],
    float,
)
# Seconds to second base by three ways to round the first: Hollander and Wolfe (1973), page 140.
ROUNDING: Final = np.array(
    [
        [5.40, 5.50, 5.55], [5.85, 5.70, 5.75], [5.20, 5.60, 5.50], [5.55, 5.50, 5.40],
        [5.90, 5.85, 5.70], [5.45, 5.55, 5.60], [5.40, 5.40, 5.35], [5.45, 5.50, 5.35],
        [5.25, 5.15, 5.00], [5.85, 5.80, 5.70], [5.25, 5.20, 5.10], [5.65, 5.55, 5.45],
        [5.60, 5.35, 5.45], [5.05, 5.00, 4.95], [5.50, 5.50, 5.40], [5.45, 5.55, 5.50],
        [5.55, 5.55, 5.35], [5.45, 5.50, 5.55], [5.50, 5.45, 5.25], [5.65, 5.60, 5.40],
        [5.70, 5.65, 5.55], [6.30, 6.30, 6.25],
    ]
)  # fmt: skip
# Depression before and after: Hollander and Wolfe (1973), page 29.
BEFORE: Final = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
AFTER: Final = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
# Hours of sleep gained by one drug more than by another: Student (1908), Biometrika 6; has ties.
SLEEP: Final = np.array([1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4])
P_VALUES: Final = np.array([0.01, 0.04, 0.03])


@dataclass(frozen=True)
class Compared:
    """A value: what it is of, as published (NaN: only R's is known) to so many digits, ours, and
    R's expression for it."""

    what: str
    published: float
    digits: int
    ours: Callable[[], float]
    in_r: str


def _judged(rows: np.ndarray = EVERYTHING) -> Variance:
    target, judge = np.nonzero(rows)
    return mean(JUDGES[rows], judge, target).variance


def _strength(journal: str) -> float:
    """Find the strength of a journal, less that of the first."""
    rows = [
        (JOURNALS[i], JOURNALS[j], answer)
        for i, j in combinations(range(4), 2)
        for answer, times in ((1.0, CITED[i, j]), (0.0, CITED[j, i]))
        for _ in range(times)
    ]
    votes = pd.DataFrame(rows, columns=["system", "other", "answer"])
    votes["rater"], votes["stimulus"] = np.arange(len(votes)), 0
    strengths = bradley_terry(votes, list(JOURNALS)).set_index("system")["value"]
    return float(strengths[journal] - strengths[JOURNALS[0]])


def _agreement(level: str) -> float:
    values = np.where(OBSERVERS > 0, OBSERVERS, np.nan)
    return krippendorff(values, "nominal" if level == "nominal" else "ordinal")


def _wilson() -> tuple[float, float, float]:
    """Find Wilson's interval of 81 in 263, independent: Newcombe (1998), Statistics in Medicine 17,
    table I."""
    share = 81 / 263
    alone = Variance(share * (1 - share) / 263, 0, 0, 10**9, 1, ratings=263)
    return bounded(Known(share, alone, 0.5), 0, 1)


def _r(values: np.ndarray) -> str:
    return f"c({', '.join(f'{value:g}' for value in values.ravel())})"


LONG: Final = (
    f"d <- data.frame(y = {_r(JUDGES)}, s = factor(rep(1:6, each = 4)), r = factor(rep(1:4, 6)))"
)
VALUES: Final = (
    Compared(
        "mean square of judges (raters as clusters)",
        32.49,
        2,
        lambda: _judged().by_rater * JUDGES.size,
        f"{LONG}; sandwich::vcovCL(lm(y ~ 1, d), ~ r, type = 'HC3', cadjust = FALSE)[1] * 24",
    ),
    Compared(
        "mean square of targets (stimuli as clusters)",
        11.24,
        2,
        lambda: _judged().by_stimulus * JUDGES.size,
        f"{LONG}; sandwich::vcovCL(lm(y ~ 1, d), ~ s, type = 'HC3', cadjust = FALSE)[1] * 24",
    ),
    Compared(
        "variance by judges who rated 6, 6, 2 and 1 of them",
        np.nan,
        6,
        lambda: _judged(UNEVEN).by_rater,
        f"{LONG}; d <- d[c{tuple(int(place) + 1 for place in np.flatnonzero(UNEVEN))}, ]; "
        "sandwich::vcovCL(lm(y ~ 1, d), ~ r, type = 'HC3', cadjust = FALSE)[1]",
    ),
    Compared(
        "standard error of the mean, both ways (R: random effects)",
        np.nan,
        2,
        lambda: float(np.sqrt(_judged().total)),
        f"{LONG}; summary(lme4::lmer(y ~ 1 + (1|r) + (1|s), d))$coefficients[2]",
    ),
    *(
        Compared(
            f"strength of {journal} against Biometrika",
            value,
            4,
            lambda journal=journal: _strength(journal),
            "library(BradleyTerry2); data(citations); "
            "b <- countsToBinomial(citations); names(b)[1:2] <- c('one', 'two'); "
            f"coef(BTm(cbind(win1, win2), one, two, data = b))[{place}]",
        )
        for place, (journal, value) in enumerate(
            zip(JOURNALS[1:], (-2.9491, -0.4796, 0.2690), strict=True), 1
        )
    ),
    *(
        Compared(
            f"Krippendorff's α, {level}",
            value,
            3,
            lambda level=level: _agreement(level),
            f"m <- matrix({_r(OBSERVERS)}, 4, byrow = TRUE); m[m == 0] <- NA; "
            f"irr::kripp.alpha(m, '{level}')$value",
        )
        for level, value in (("nominal", 0.743), ("ordinal", 0.815))
    ),
    Compared(
        "Friedman's χ², three ways round a base",
        11.143,
        3,
        lambda: float(friedmanchisquare(*ROUNDING.T).statistic),
        f"friedman.test(matrix({_r(ROUNDING)}, 22, byrow = TRUE))$statistic",
    ),
    Compared(
        "Wilcoxon's p, depression",
        0.03906,
        5,
        lambda: signed_rank(BEFORE - AFTER),
        f"wilcox.test({_r(BEFORE)}, {_r(AFTER)}, paired = TRUE)$p.value",
    ),
    Compared(
        "Wilcoxon's exact p with ties, sleep",
        2 / 2**9,
        6,
        lambda: signed_rank(SLEEP),
        f"x <- {_r(SLEEP)}; coin::pvalue(coin::wilcoxsign_test(x ~ rep(0, 10), "
        "distribution = 'exact', zero.method = 'Wilcoxon'))",
    ),
    Compared(
        "Wilson's interval of 81 in 263, low",
        0.2553,
        4,
        lambda: _wilson()[0],
        "prop.test(81, 263, correct = FALSE)$conf.int[1]",
    ),
    Compared(
        "Wilson's interval of 81 in 263, high",
        0.3662,
        4,
        lambda: _wilson()[1],
        "prop.test(81, 263, correct = FALSE)$conf.int[2]",
    ),
    Compared(
        "Holm's p, the second of three",
        0.06,
        4,
        lambda: float(holm(P_VALUES)[1]),
        f"p.adjust({_r(P_VALUES)}, 'holm')[2]",
    ),
)


def in_r() -> dict[str, str]:
    """Compute what R says, by what it is of; empty without Rscript."""
    if shutil.which("Rscript") is None:
        return {}
    lines = [
        f"v <- tryCatch(suppressMessages({{ {each.in_r} }}), error = function(e) NA); "
        f"cat('{number}', format(as.numeric(v)[1], digits = 10), '\\n')"
        for number, each in enumerate(VALUES)
    ]
    output = subprocess.run(
        ["Rscript", "-"], input="\n".join(lines), capture_output=True, text=True, check=True
    ).stdout
    pairs = [line.split() for line in output.splitlines() if len(line.split()) == 2]
    return {VALUES[int(number)].what: value for number, value in pairs if value != "NA"}


def main() -> None:
    """Print the table, and exit with 1 where ours is not the published value."""
    in_journals, wrong = in_r(), False
    print("| value | published | ours | R |\n|---|---:|---:|---:|")
    for each in VALUES:
        ours = each.ours()
        published = "" if np.isnan(each.published) else f"{each.published:.{each.digits}f}"
        figure = f"{ours:.{each.digits}f}"
        wrong |= bool(published) and published != figure
        print(f"| {each.what} | {published} | {figure} | {in_journals.get(each.what, '')} |")
    sys.exit(int(wrong))


if __name__ == "__main__":
    main()
