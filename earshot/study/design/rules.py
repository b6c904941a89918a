"""The rules by which ratings are left out, as a test's YAML states them before anybody has
rated.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, Final

from earshot.study.design.yaml_lines import Value

FAILED_CHECKS: Final = 0.25  # of attention checks, above which a rater is not to be believed
MAX_TIME: Final = 10_000  # seconds of an answer, and minutes of a sitting
OFF: Final = False  # what is written for a rule that does not hold


@dataclass(frozen=True)
class Rules:
    """The rules of exclusion; None switches one off.

    failed_checks: in more than this share of attention checks and gold trials, the answer was
    farther from the expected one than the trial tolerates. too_fast: the median time for an answer
    was under this share of the median rater's, judged from `fewest` raters on. headphones: the
    headphone check was failed (whoever skipped it stays). post_screening: that of BS.1534-3, in
    MUSHRA with an open reference. environment: the test of the room was failed. least_seconds,
    most_seconds: an answer that took less, or more, is left out, and the rater's others stay.
    most_minutes: the rater took longer, from their consent to their last answer, breaks and all.
    """

    failed_checks: float | None = FAILED_CHECKS
    too_fast: float | None = 1 / 3
    headphones: bool = True
    post_screening: bool = True
    fewest: int = 5
    environment: bool = True
    least_seconds: float | None = None
    most_seconds: float | None = None
    most_minutes: float | None = None


def read_rules(document: Value) -> Rules:
    """Read the rules of a test; what is not written stays as it is in Rules. A share may be false:
    then there is no such rule."""
    if not document.has("rules"):
        return Rules()
    value, names = document.at("rules"), [field.name for field in fields(Rules)]
    if not isinstance(value.content, dict):
        value.problem(f"write {', '.join(names)} here, whichever is not to be as usual.")
        return Rules()
    value.only(names)
    given: dict[str, Any] = {}
    for name in ("failed_checks", "too_fast"):
        if value.has(name):
            given[name] = _share(value.at(name), name)
    for name in ("least_seconds", "most_seconds", "most_minutes"):
        if value.has(name):
            given[name] = _time(value.at(name), name)
    least, most = given.get("least_seconds"), given.get("most_seconds")
    if least is not None and most is not None and least >= most:
        value.at("most_seconds").problem('"most_seconds" must be more than "least_seconds".')
    for name in ("headphones", "post_screening", "environment"):
        given[name] = value.take(name, bool, True)
    given["fewest"] = value.take("fewest", int, Rules.fewest)
    if given["fewest"] < 2:
        value.at("fewest").problem('"fewest" must be 2 raters or more.')
    return replace(Rules(), **given)


def _time(value: Value, name: str) -> float | None:
    if value.content is OFF:
        return None
    time = value.be(float, name)
    if not 0 < time <= MAX_TIME:
        value.problem(f'"{name}" must be more than 0 and {MAX_TIME} at most, or false.')
    return time


def _share(value: Value, name: str) -> float | None:
    if value.content is OFF:
        return None
    share = value.be(float, name)
    if not 0 <= share < 1:
        value.problem(f'"{name}" must be from 0 to less than 1, or false.')
    return share
