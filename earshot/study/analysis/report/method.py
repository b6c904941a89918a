"""The method behind the results, in words that can be cited; and the analysis that is planned for a
test, in words that can be registered before the first rating.
"""

from collections.abc import Iterator
from importlib.metadata import version
from itertools import combinations

import numpy as np

from earshot.core.paths import release
from earshot.study.analysis.estimates import percent
from earshot.study.analysis.exclusions import describe_rules
from earshot.study.analysis.paired_comparisons import CHANCE
from earshot.study.analysis.power import POWER
from earshot.study.analysis.report.paper import gains, line
from earshot.study.analysis.report.prose import counted
from earshot.study.analysis.results import MIN_RATERS, Results
from earshot.study.analysis.scores import MAX_EXACT
from earshot.study.analysis.staircases import SHARE_OF_SLIPS, share_right
from earshot.study.design import REFERENCE, Scale, Test
from earshot.study.design.raters import MAX_FAILED_CHECKS, SCREENS

INTERVALS = (
    "The variance of every value has raters and stimuli as clusters (Cameron, Gelbach and Miller "
    "2011), each by the jackknife (CV3; MacKinnon, Nielsen and Webb 2023), and t has "
    "Satterthwaite's degrees of freedom: 95 % intervals speak of other raters and other stimuli of "
    "the same kinds. Those of a mean or share on a scale with ends are Wilson's score intervals "
    "with the effective number of answers (Korn and Graubard 1998), those of a difference t "
    "intervals. {p} No variance is less than what the "
    "steps of the scale hide."
)
OF_INTERVAL = "Each p is that of the interval which is printed."
OF_CHANCE = (
    "The p of a share of right answers is not that of its interval, which speaks of other raters "
    "and stimuli and is the wider one: it says whether these raters heard any difference in these "
    "sounds."
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
    "likelihood does not depend on how pairs were chosen; the counts of votes next to them are not "
    "to be tested."
)
STAIRCASE = (
    "The level of a rater's next trial depends on their answers: it is harder after {down} right "
    "in a row, easier after each wrong one; everybody begins at the easiest. The threshold is the "
    "level at which the mean rater hears half of the differences ({share} right): that of a "
    "logistic psychometric function between chance ({chance}) and answers without a slip "
    "({lapses} are slips), fitted to all answers by maximum likelihood, in which raters have "
    "normally distributed thresholds of their own. Its likelihood does not depend on how levels "
    "were chosen; shares by level do, and are not tested. The variance of the threshold is that of "
    "the raters' scores (clusters; Huber and White), its interval has t: it speaks of other raters "
    "and of these stimuli."
)
SCALES = (
    "On every trial raters answered several scales ({scales}). Each is analysed by itself: Holm's "
    "method corrects the p-values within a scale, and not over the scales."
)
ERRORS = (
    "Words that were left out, put in or exchanged, without regard to case and punctuation, are "
    "counted as errors, at most as many as the sentence has words. The word error rate of a system "
    "is all its errors by all its words, a ratio of two sums that is linearised (Cochran 1977), "
    "so that its interval and its differences have raters and stimuli as clusters as means have."
)
HOLM = "p-values of several pairs are corrected by Holm's method (1979)."
SCREENED = {
    "headphones": "the headphone check is failed",
    "environment": "the test of the room is failed",
    "attention": "more than {share} of the attention checks are failed",
}


def method(results: Results) -> Iterator[str]:
    """Write the paragraphs of the section."""
    test, answers = results.test, results.included.answers
    drawn = f"order and position were drawn at random for each rater (seed {test.seed})"
    yield (
        f"The design is {test.design.source}. {counted(answers['rater'].nunique(), 'rater')} gave "
        f"{counted(len(results.included.single), results.scale.unit)} of "
        f"{counted(answers['stimulus'].nunique(), 'stimulus')}; "
        f"{f'they were collected with {test.source}' if test.source else drawn}."
    )
    if test.pairing == "adaptive":
        yield ADAPTIVE
    if test.design.reference == "optional" and not test.referenced:
        yield UNMENTIONED if REFERENCE in test.conditions else ALONE
    yield " ".join(estimation(test))
    levels = dict.fromkeys(scale.level for scale in test.rated if scale.level)
    if levels:
        yield (
            f"Agreement is Krippendorff's α for {' and '.join(levels)} data (Krippendorff 2011): 1 "
            "where all agree, 0 where they agree as by chance. A unit is what one system made of "
            "one stimulus."
        )
    if not test.staircase:
        yield (
            f"How many raters it takes is for a power of {percent(POWER)} of the test that is "
            "reported, for the pair of systems known least well, at the level at which Holm's "
            f"method tests the first of the pairs: by {_power(results.scale)} with the variances "
            "found here. Of all sizes that are enough, the one with the fewest ratings is named."
        )
    changed = "" if results.rules == test.rules else " These are not the rules of the test."
    yield f"Left out are: {describe_rules(results.rules, test)}{changed}"
    yield (
        f"Computed with statsmodels {version('statsmodels')} and SciPy {version('scipy')}. "
        "Practice, attention checks and gold trials are not scored."
    )


def _power(scale: Scale) -> str:
    if scale.chance:
        return "the binomial test, of as many independent answers as have this spread"
    return "the noncentral t"


def estimation(test: Test) -> Iterator[str]:
    """Yield how the values of a test are estimated and tested."""
    if test.staircase:
        yield STAIRCASE.format(
            down=test.staircase.down,
            share=percent(float(share_right(np.zeros(())))),
            chance=percent(CHANCE),
            lapses=percent(SHARE_OF_SLIPS),
        )
        return
    yield test.design.tested.format(exact=MAX_EXACT)
    chance = any(scale.chance for scale in test.rated)
    yield INTERVALS.format(p=OF_CHANCE if chance else OF_INTERVAL)
    yield HOLM
    if test.scales:
        yield SCALES.format(scales=", ".join(scale.name for scale in test.scales))
    if any(scale.typed for scale in test.scales):
        yield ERRORS


def plan(test: Test) -> Iterator[str]:
    """Write the plan of the analysis of this test, a paragraph each."""
    questions = (
        f"The question is “{each.question}”, {answer_choices(each)}." for each in test.rated
    )
    yield f"The design is {test.design.source}. {' '.join(questions)}"
    stimuli = counted(len({trial.stimulus for trial in test.of_kind("trial")}), "stimulus")
    raters = "any number of raters" if test.raters is None else counted(test.raters, "rater")
    yield (
        f"{counted(len(test.systems), 'system')} ({', '.join(test.systems)}) are judged with "
        f"{stimuli} by {raters}, each of whom gets {counted(test.trials_per_rater, 'trial')} of "
        f"{len(test.of_kind('trial'))} (seed {test.seed}). {_end(test)} The clusters of every "
        f"variance are the raters{' and the stimuli' * (test.staircase is None)}."
    )
    if test.pairing == "adaptive":
        yield ADAPTIVE
    yield " ".join(estimation(test))
    pairs = [" against ".join(pair) for pair in hypotheses(test)]
    if pairs:
        family = f" Holm's correction is over these {len(pairs)}." if len(pairs) > 1 else ""
        family += " So on each scale." if test.scales else ""
        named = "; ".join(pairs[:20]) + "; …" * (len(pairs) > 20)
        yield (
            f"The hypotheses, each that there is no difference, two-sided but for ABX, at 0.05: "
            f"{named}.{family}"
        )
    yield (
        f"Left out are: {describe_rules(test.rules, test)} Practice, attention checks and gold "
        f"trials are not scored. {_screens(test)}Trials that a rater did not answer are missing, "
        "and nothing is put in their place; raters who stopped are kept with what they have "
        "answered."
    )
    yield (
        "The report also shows all results with everyone, and, as secondary results from which "
        "nothing is concluded: effects of order, position, fatigue and day; other models of the "
        "same answers; agreement of raters. With fewer than "
        f"{MIN_RATERS} raters it calls every number a first hint."
    )
    yield f"The analysis is that of Earshot {release()}, run once, after the test has closed."


def answer_choices(scale: Scale) -> str:
    """Return what may be answered on a scale."""
    if scale.typed:
        return "which raters answer in writing"
    if scale.adjusted:
        return f"which raters answer by setting {gains(scale)}"
    if scale.ranked:
        return "asked again of those that are left, until the best is"
    choices = (f"{word} ({value})" if word else str(value) for value, word in scale.answers)
    return f"and the answers are: {', '.join(choices)}{line(scale)}"


def hypotheses(test: Test) -> list[tuple[str, str]]:
    """List the pairs of systems whose differences are tested."""
    if test.staircase:
        return []
    if test.design.paired:
        pairs = [tuple(trial.sounds) for trial in test.of_kind("trial")]
        return [(one, other) for one, other in dict.fromkeys(pairs)]
    return list(combinations([name for name in test.systems if name != REFERENCE], 2))


def _end(test: Test) -> str:
    ends = [f"when {test.raters} have finished"] if test.raters else []
    ends += [f"on {test.closes.isoformat()}"] if test.closes else []
    return f"It ends {' or '.join(ends)}." if ends else "No end is set."


def _screens(test: Test) -> str:
    most = test.rules.failed_checks
    share = percent(MAX_FAILED_CHECKS if most is None else most)
    reasons = [SCREENED[name].format(share=share) for name in SCREENS if test.panel.screens(name)]
    return f"Raters cannot go on where {' or '.join(reasons)}. " if reasons else ""
