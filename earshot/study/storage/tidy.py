"""The tidy table: a row a rating."""

from collections import defaultdict
from dataclasses import asdict

import pandas as pd
from sqlalchemy import select
from sqlalchemy.orm import Session

from earshot.study.design import Test
from earshot.study.storage.answers import rows
from earshot.study.storage.raters import item_of
from earshot.study.storage.tables import ItemRow, RaterRow

COLUMNS = {
    "test": "str",
    "rater": "str",
    "trial": "int64",
    "order": "int64",
    "position": "int64",
    "system": "str",
    "other": "str",
    "stimulus": "str",
    "answer": "float64",
    "kind": "str",
    "expected": "float64",
    "plays": "int64",
    "milliseconds": "int64",
    "headphones": "boolean",
    "environment": "boolean",
    "minutes": "float64",
    "finished": "bool",
    "started": "str",
    "language": "str",
    "scale": "str",
    "text": "str",
}


def ratings(session: Session, test: Test) -> pd.DataFrame:
    """Make a table of all ratings of a test, a row each (in mushra a row a condition), with these
    columns:

    test; rater (hash); trial (its id); order (place in the rater's sequence); position (of system
    on the screen, 0 is left or A); system; other (what it was compared with, or ""); stimulus;
    answer (see answers.rows); kind; expected (float or NaN); plays; milliseconds; headphones
    (True, False or NA), and environment, the same of the test of the room; minutes (of the rater so
    far, by the server's clock); finished (bool); started (ISO day); language (of the rater's page,
    or ""); scale; text (what was written; of a comment all there is).
    """
    found = session.execute(
        select(RaterRow, ItemRow)
        .join(ItemRow, ItemRow.rater == RaterRow.id)
        .where(RaterRow.test == test.name)
        .order_by(RaterRow.id, ItemRow.place)
    ).all()
    unfinished = {rater.id for rater, row in found if row.milliseconds is None}
    minutes: defaultdict[str, float] = defaultdict(float)
    for rater, row in found:
        minutes[rater.id] += (row.server_milliseconds or 0) / 60_000
    table = [
        {
            **asdict(rating),
            "test": test.name,
            "rater": rater.id,
            "trial": row.trial,
            "order": row.place,
            "stimulus": test.trials[row.trial].stimulus,
            "kind": test.trials[row.trial].kind,
            "milliseconds": row.milliseconds,
            "headphones": rater.headphones,
            "environment": rater.environment,
            "minutes": minutes[rater.id],
            "finished": rater.id not in unfinished,
            "started": rater.started.isoformat(),
            "language": rater.language or "",
        }
        for rater, row in found
        if row.answer is not None
        for rating in rows(test, item_of(row), row.answer, row.plays or [])
    ]
    return pd.DataFrame(table, columns=list(COLUMNS)).astype(COLUMNS)
