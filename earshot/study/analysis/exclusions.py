"""The rules, stated beforehand, by which ratings are left out, and why."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from earshot.study.analysis.estimates import Table, percent
from earshot.study.analysis.scores import MAX_MISSED, post_screening
from earshot.study.design import Test
from earshot.study.design.model import CHECKS
from earshot.study.design.raters import Rules


def in_words(rules: Rules, test: Test) -> tuple[str, ...]:
    """List the rules that apply to this test, as they can be cited."""
    words = []
    if rules.failed_checks is not None and any(test.of_kind(kind) for kind in CHECKS):
        share = percent(rules.failed_checks)
        words.append(f"more than {share} of attention checks and gold trials answered wrongly")
    if rules.too_fast is not None:
        words.append(
            f"a median answer time under {percent(rules.too_fast)} of the median rater's "
            f"(from {rules.fewest} raters on)"
        )
    if rules.headphones:
        words.append("the headphone check failed")
    if rules.environment and test.environment:
        words.append(
            f"the test of the room failed (fewer than {test.environment.right} of "
            f"{test.environment.pairs} pairs told apart, after ITU-T P.808)"
        )
    if rules.most_minutes is not None:
        words.append(f"more than {rules.most_minutes:g} minutes from consent to the last answer")
    if most := rules.dropouts.get("rater"):
        words.append(f"a device that skipped {times(most)} or more in all, as their page measured")
    if rules.post_screening and test.design.together and test.referenced:
        words.append(
            "the hidden reference rated below 90, or the 7 kHz anchor above 90, in more than "
            f"{percent(MAX_MISSED)} of trials (ITU-R BS.1534-3, 4.1.2)"
        )
    return tuple(words)


def describe_rules(rules: Rules, test: Test) -> str:
    """Describe who is left out, and which single answers of others."""
    raters = "; ".join(in_words(rules, test))
    parts = [f"Raters with all their answers for: {raters}."] if raters else []
    if single := " and ".join(filter(None, (in_time(rules), undisturbed(rules)))):
        parts.append(f"Of others, {single}.")
    checks = {"the headphone check": not (rules.headphones or test.source)}
    checks["the test of the room"] = bool(test.environment) and not rules.environment
    if lenient := " or ".join(name for name, stays in checks.items() if stays):
        parts.append(f"Who fails {lenient} stays.")
    return " ".join(parts) or "Nobody."


@dataclass(frozen=True)
class Exclusion:
    """A rater (hash) who is left out, every reason for it, and the rules that they come from."""

    rater: str
    reasons: tuple[str, ...]
    rules: tuple[str, ...] = ()


def screen(test: Test, ratings: Table, rules: Rules) -> tuple[Exclusion, ...]:
    """Find whom the rules exclude, in the order of their hashes."""
    reasons: dict[str, list[tuple[str, str]]] = {}
    for name, rater, reason in _reasons(test, ratings[ratings["kind"] != "practice"], rules):
        reasons.setdefault(rater, []).append((name, reason))
    return tuple(
        Exclusion(rater, tuple(reason for _, reason in why), tuple(dict(why)))
        for rater, why in sorted(reasons.items())
    )


def _reasons(test: Test, ratings: Table, rules: Rules) -> Iterator[tuple[str, str, str]]:
    """Find each rule that is broken, by whom, and how."""
    if rules.failed_checks is not None:
        for rater, reason in _failed_checks(test, ratings, rules.failed_checks):
            yield "failed checks", rater, reason
    if rules.too_fast is not None:
        for rater, reason in _too_fast(ratings, rules.too_fast, rules.fewest):
            yield "too fast", rater, reason
    if rules.headphones:
        failed = ratings["headphones"].eq(False).fillna(False)  # unlike NA, who skipped it
        for rater in ratings.loc[failed, "rater"].unique():
            yield "headphone check", str(rater), "failed the headphone check"
    if rules.environment and test.environment:
        failed = ratings["environment"].eq(False).fillna(False)
        for rater in ratings.loc[failed, "rater"].unique():
            yield "test of the room", str(rater), "failed the test of the room"
    if rules.most_minutes is not None:
        for rater, took in ratings.groupby("rater")["minutes"].max().items():
            if took > rules.most_minutes:
                yield "too long", str(rater), f"took {took:.0f} minutes"
    trials = ratings[ratings["kind"] == "trial"]
    if in_time(rules):
        for rater, late in untimely(trials, rules).groupby(trials["rater"]):
            if late.all():
                yield "time of single answers", str(rater), "gave no answer in the time allowed"
    if most := rules.dropouts.get("rater"):
        answers = ratings.drop_duplicates(["rater", "order"])
        for rater, number in answers.groupby("rater")["dropouts"].sum().items():
            if number >= most:
                yield "dropouts", str(rater), f"had a device that skipped {times(number)}"
    if undisturbed(rules):
        for rater, disturbed in skipped(trials, rules).groupby(trials["rater"]):
            if disturbed.all():
                yield "dropouts", str(rater), "had a device that skipped in every answer"
    if rules.post_screening and test.design.together and test.referenced:
        first = trials[trials["scale"] == test.checked.name]
        for rater, reasons in post_screening(first).items():
            for reason in reasons:
                yield "post-screening", rater, reason


def untimely(ratings: Table, rules: Rules) -> Table:
    """Return for each rating whether its answer took less time, or more, than the rules allow."""
    seconds = ratings["milliseconds"] / 1000
    least = 0.0 if rules.least_seconds is None else rules.least_seconds
    most = math.inf if rules.most_seconds is None else rules.most_seconds
    return (seconds < least) | (seconds > most)


def in_time(rules: Rules) -> str:
    """Describe the single answers that are left out, and stay without their rater's others; "" for
    none.
    """
    limits = [
        f"{what} than {limit:g} s"
        for what, limit in (("less", rules.least_seconds), ("more", rules.most_seconds))
        if limit is not None
    ]
    return f"single answers that took {' or '.join(limits)}" if limits else ""


def skipped(ratings: Table, rules: Rules) -> Table:
    """Return for each rating whether the device skipped while it was made, so often that the rules
    leave it out; what was not measured stays."""
    return ratings["dropouts"].ge(rules.dropouts.get("answer", math.inf)).fillna(False)


def undisturbed(rules: Rules) -> str:
    """Describe the single answers that are left out for the device; "" for none."""
    most = rules.dropouts.get("answer")
    return f"single answers in which the device skipped {times(most)} or more" if most else ""


def times(number: float) -> str:
    """Write how often something happened."""
    return "once" if number == 1 else f"{number:g} times"


def _failed_checks(test: Test, ratings: Table, most: float) -> Iterator[tuple[str, str]]:
    checks = ratings[ratings["kind"].isin(CHECKS) & ratings["expected"].notna()]
    tolerance = checks["trial"].map({trial.id: trial.tolerance for trial in test.trials}).fillna(0)
    # One that was skipped has no answer.
    wrong = ~((checks["answer"] - checks["expected"]).abs() <= tolerance)
    for rater, own in wrong.groupby(checks["rater"]):
        if own.mean() > most:
            counts = f"failed {int(own.sum())} of {len(own)} checks"
            yield str(rater), f"{counts} ({percent(most)} may fail)"


def _too_fast(ratings: Table, least: float, fewest: int) -> Iterator[tuple[str, str]]:
    seconds = ratings[ratings["kind"] == "trial"].groupby("rater")["milliseconds"].median() / 1000
    if len(seconds) < fewest:
        return
    middle = seconds.median()
    for rater, own in seconds[seconds < least * middle].items():
        yield str(rater), f"took {own:.1f} s for an answer; the median rater took {middle:.1f} s"
