"""From ratings to results: analyse, then write or show the page."""

import numpy as np
import pandas as pd

from study.analysis.exclusions import Exclusion, Rules, screen
from study.analysis.results import Analysis, Results, evaluate
from study.analysis.tables import Table
from study.design import Test

__all__ = ["Analysis", "Exclusion", "Results", "Rules", "analyse"]

COLUMNS = (
    "test rater trial order position system other stimulus answer kind expected plays "
    "milliseconds headphones finished started"
).split()


def analyse(test: Test, ratings: pd.DataFrame, rules: Rules | None = None) -> Results:
    """Everything that can be said of a test's ratings (the tidy table of Store.ratings).

    Rows whose answer is no finite number are left out, and so is practice. Any number of ratings
    will do: where there are too few for a figure it is NaN, and the notes say why.
    """
    rules = rules or Rules()
    table: Table = ratings.reindex(columns=COLUMNS)
    for column in ("answer", "expected", "milliseconds", "trial"):
        table[column] = pd.to_numeric(table[column], errors="coerce")
    table = table[np.isfinite(table["answer"])].astype(
        {"rater": str, "system": str, "stimulus": str}
    )
    table["other"] = table["other"].fillna("").astype(str)
    scored = table[table["kind"] == "trial"]
    excluded = screen(test, table, rules)
    left_out = [exclusion.rater for exclusion in excluded]
    kept = scored[~scored["rater"].isin(left_out)]
    everyone = evaluate(test, scored)
    return Results(
        test=test,
        kept=evaluate(test, kept) if excluded else everyone,
        everyone=everyone,
        rules=rules,
        exclusions=excluded,
        started=table["rater"].nunique(),
        finished=table.loc[table["finished"].eq(True).fillna(False), "rater"].nunique(),
    )
