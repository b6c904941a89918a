"""The analysis that is planned for a test, in words that can be registered before anybody has
rated.
"""

from collections.abc import Iterator
from itertools import combinations

from earshot.study.analysis.exclusions import said
from earshot.study.analysis.report.contents import earshot, line
from earshot.study.analysis.report.method import ADAPTIVE, estimates
from earshot.study.analysis.report.words import counted
from earshot.study.analysis.results import MIN_RATERS
from earshot.study.analysis.tables import percent
from earshot.study.design import REFERENCE, Scale, Test
from earshot.study.design.panel import SCREENS
from earshot.study.design.rules import FAILED_CHECKS

SCREENED = {
    "headphones": "the headphone check is failed",
    "environment": "the test of the room is failed",
    "attention": "more than {share} of the attention checks are failed",
}


def plan(test: Test) -> Iterator[str]:
    """Write the plan of the analysis of this test, a paragraph each."""
    asked = (f"The question is “{each.question}”, {answers(each)}." for each in test.rated)
    yield f"The design is {test.design.source}. {' '.join(asked)}"
    stimuli = counted(len({trial.stimulus for trial in test.of_kind("trial")}), "stimulus")
    wanted = "any number of raters" if test.raters is None else counted(test.raters, "rater")
    yield (
        f"{counted(len(test.systems), 'system')} ({', '.join(test.systems)}) are judged with "
        f"{stimuli} by {wanted}, each of whom gets {counted(test.trials_per_rater, 'trial')} of "
        f"{len(test.of_kind('trial'))} (seed {test.seed}). {_end(test)} The clusters of every "
        "variance are the raters and the stimuli."
    )
    if test.pairing == "adaptive":
        yield ADAPTIVE
    yield " ".join(estimates(test))
    pairs = [" against ".join(pair) for pair in compared(test)]
    if pairs:
        family = f" Holm's correction is over these {len(pairs)}." if len(pairs) > 1 else ""
        family += " So on each scale." if test.scales else ""
        named = "; ".join(pairs[:20]) + "; …" * (len(pairs) > 20)
        yield (
            f"The hypotheses, each that there is no difference, two-sided but for ABX, at 0.05: "
            f"{named}.{family}"
        )
    yield (
        f"Left out are: {said(test.rules, test)} Practice, attention checks and gold trials are "
        f"not scored. {_screens(test)}Trials that a rater did not answer are missing, and nothing "
        "is put in their place; raters who stopped are kept with what they have answered."
    )
    yield (
        "The report also shows all results with everyone, and, as secondary results from which "
        "nothing is concluded: effects of order, position, fatigue and day; other models of the "
        "same answers; agreement of raters. With fewer than "
        f"{MIN_RATERS} raters it calls every number a first hint."
    )
    yield f"The analysis is that of Earshot {earshot()}, run once, after the test has closed."


def answers(scale: Scale) -> str:
    """Say what may be answered on a scale."""
    if scale.typed:
        return "which raters answer in writing"
    said = (f"{word} ({value})" if word else str(value) for value, word in scale.answers)
    return f"and the answers are: {', '.join(said)}{line(scale)}"


def compared(test: Test) -> list[tuple[str, str]]:
    """List the pairs of systems whose differences are tested."""
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
    share = percent(FAILED_CHECKS if most is None else most)
    told = [SCREENED[name].format(share=share) for name in SCREENS if test.panel.screens(name)]
    return f"Raters cannot go on where {' or '.join(told)}. " if told else ""
