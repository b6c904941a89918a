"""How the results came about, in words that can be cited."""

from collections.abc import Iterator
from importlib.metadata import version

from earshot.study.analysis.power import POWER
from earshot.study.analysis.results import LEVELS, Results
from earshot.study.analysis.tables import percent
from earshot.study.design import REFERENCE, Design

SOURCES: dict[Design, str] = {
    "acr": "absolute category ratings (ITU-T P.800)",
    "dcr": "degradation category ratings (ITU-T P.800)",
    "ccr": "comparison category ratings (ITU-T P.800)",
    "mushra": "MUSHRA (ITU-R BS.1534-3)",
    "similarity": "same-or-different judgements of the speaker on four levels "
    "(Voice Conversion Challenge 2018)",
    "ab": "paired preferences",
    "abx": "ABX",
}
INTERVALS = (
    "95 % intervals are t intervals whose variance has raters and stimuli as clusters (Cameron, "
    "Gelbach and Miller 2011), with Satterthwaite's degrees of freedom: they speak of other raters "
    "and other stimuli of the same kinds."
)
UNMENTIONED = (
    "Other than in ITU-R BS.1534, raters were not told of a reference, which was one of the "
    "conditions, so that they judged quality rather than likeness; nobody is left out for rating "
    "it low."
)
ALONE = "Other than in ITU-R BS.1534, there was neither a reference nor an anchor."
ADAPTIVE = (
    "The next pair of a rater was the one whose vote was expected to tell most about the "
    "strengths, given all votes before (expected information under the Bradley–Terry model, "
    "with a normal prior of SD 2 and Laplace's approximation; Mikhailiuk et al. 2021). Shares, "
    "intervals and p-values of pairs are therefore those of the model of all votes, whose "
    "likelihood does not depend on how pairs were chosen, and no interval is narrower than that of "
    "independent votes; the counts of votes beside them are not to be tested."
)
HOLM = "p-values of several pairs are corrected by Holm's method (1979)."


def method(results: Results) -> Iterator[str]:
    """Paragraphs."""
    test, answers = results.test, results.kept.answers
    drawn = f"order and position were drawn at random for each rater (seed {test.seed})"
    yield (
        f"The design is {SOURCES[test.design]}. {answers['rater'].nunique()} raters gave "
        f"{len(answers)} ratings of {answers['stimulus'].nunique()} stimuli; "
        f"{f'they were collected with {test.source}' if test.source else drawn}."
    )
    if test.pairing == "adaptive":
        yield ADAPTIVE
    if test.design == "mushra" and not test.referenced:
        yield UNMENTIONED if REFERENCE in test.conditions else ALONE
    yield " ".join(_estimates(test.design))
    if test.design in LEVELS:
        yield (
            f"Agreement is Krippendorff's α for {LEVELS[test.design]} data (Krippendorff 2011): 1 "
            "where all agree, 0 where they agree as by chance. A unit is what one system made of "
            "one stimulus."
        )
    yield (
        f"How many raters it takes is for a power of {percent(POWER)} at p < 0.05 before Holm's "
        "correction, for the pair of systems known least well, by the noncentral t with the "
        "variances found here."
    )
    rules = results.rules.in_words(test)
    if rules:
        yield f"Raters are left out for: {'; '.join(rules)}."
    yield (
        f"Computed with statsmodels {version('statsmodels')} and SciPy {version('scipy')}. "
        "Practice, attention checks and gold trials are not scored."
    )


def _estimates(design: Design) -> Iterator[str]:
    if design == "ab":
        yield (
            "The share of votes for a system (no preference counts half) is tested against one "
            "half by its t, as its interval is made; the sign test beside it leaves ties out and "
            "takes all votes for independent, which makes it find too much where raters have "
            "tastes of their own. Where all votes agree, each rater counts as one vote (Clopper "
            "and Pearson). Strengths of three systems and more are Bradley and Terry's (1952), a "
            "binomial GLM."
        )
    if design == "ccr":
        yield "The mean comparison rating of a pair is tested against 0 by its t."
    if design == "abx":
        yield (
            "The share of right answers is tested against one half by the exact binomial test, "
            "one-sided: where nothing can be heard every answer is a toss, whoever gives it. d′ is "
            "that of the differencing model for ABX with an unbiased listener (Macmillan and "
            "Creelman 2005, chapter 9), its interval that of the share."
        )
    if design == "mushra":
        yield (
            "Medians and quartiles are of all ratings of a system. Friedman's test compares the "
            "systems under test, and Wilcoxon's signed-rank test each pair of them and the hidden "
            "reference, on the raters' means over their trials. These tests take the stimuli as "
            "given; the interval of a difference does not, and can be the more cautious."
        )
    if design == "similarity":
        yield "Judged the same are answers of “same”, whether sure or not."
    if design in ("acr", "dcr", "similarity"):
        yield "A difference of two systems is tested by its t; what a rater adds to both cancels."
    yield INTERVALS
    yield HOLM
