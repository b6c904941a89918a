"""The screening of raters who fail attention checks."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from earshot.study.design import Test
from earshot.study.design.rules import FAILED_CHECKS
from earshot.study.storage.answers import rows
from earshot.study.storage.raters import item_of
from earshot.study.storage.tables import ItemRow


def inattentive(session: Session, test: Test, rater: str) -> bool:
    """Say whether more of the rater's attention checks failed than is allowed of all that they get,
    so that nothing they still answer can mend it.
    """
    checks = {trial.id: trial for trial in test.of_kind("attention")}
    if not checks:
        return False
    of_rater = select(ItemRow).where(ItemRow.rater == rater, ItemRow.trial.in_(checks))
    failed = 0
    for row in session.scalars(of_rater):
        if row.answer is None:
            continue
        rated = rows(test, item_of(row), row.answer, row.plays or [])
        known = next(each for each in rated if each.expected is not None)
        off = abs(known.answer - (known.expected or 0.0))
        failed += off > checks[row.trial].tolerance
    most = test.rules.failed_checks
    return failed > (FAILED_CHECKS if most is None else most) * len(checks)
