"""The rules by which ratings are left out, as a test's YAML states them before anybody has
rated.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, Final

from earshot.study.design.yaml_lines import Value

FAILED_CHECKS: Final = 0.25  # of attention checks, above which a rater is not to be believed
OFF: Final = False  # what is written for a rule that does not hold


@dataclass(frozen=True)
class Rules:
    """Who is excluded; None switches a rule off.

    failed_checks: in more than this share of attention checks and gold trials, the answer was
    farther from the expected one than the trial tolerates. too_fast: the median time for an answer
    was under this share of the median rater's, judged from `fewest` raters on. headphones: the
    headphone check was failed (who skipped it stays). post_screening: that of BS.1534-3, in MUSHRA
    with an open reference.
    """

    failed_checks: float | None = FAILED_CHECKS
    too_fast: float | None = 1 / 3
    headphones: bool = True
    post_screening: bool = True
    fewest: int = 5


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
    for name in ("headphones", "post_screening"):
        given[name] = value.take(name, bool, True)
    given["fewest"] = value.take("fewest", int, Rules.fewest)
    if given["fewest"] < 2:
        value.at("fewest").problem('"fewest" must be 2 raters or more.')
    return replace(Rules(), **given)


def _share(value: Value, name: str) -> float | None:
    if value.content is OFF:
        return None
    share = value.be(float, name)
    if not 0 <= share < 1:
        value.problem(f'"{name}" must be from 0 to less than 1, or false.')
    return share
