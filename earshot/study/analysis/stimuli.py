"""The mean answer to each system with each stimulus: which sounds decide, and which stand out."""

import pandas as pd

from earshot.study.analysis.mos import counted
from earshot.study.analysis.preference import both_ways
from earshot.study.analysis.results import Analysis
from earshot.study.analysis.tables import Table
from earshot.study.design import Scale


def told(scale: Scale, answers: Table) -> Table:
    """Turn answers into what one averages them: of pairs told of either, the same of both where
    they are right or wrong; 1 or 0 where the share of some answers is counted."""
    if scale.chance:  # which of two is named first means nothing
        turned = answers.assign(system=answers["other"], other=answers["system"])
        return pd.concat([answers, turned], ignore_index=True)
    if scale.null is not None:
        return both_ways(answers, scale.null)
    return counted(answers, scale)


def by_stimulus(analysis: Analysis) -> Table:
    """Make a row for each system, or pair ("one and other"), as the analysis ranks them; a column a
    stimulus, the one that is rated lowest over all rows first; NaN where nothing is rated.

    In ab and ccr the answer is told of the first of a pair; in abx it is the share right, in
    similarity the share judged the same.
    """
    scale = analysis.scale
    answers, ranked = told(scale, analysis.answers), analysis.systems
    if scale.of_pairs:
        answers, ranked = (
            table.assign(system=table["system"] + " and " + table["other"])
            for table in (answers, analysis.pairs)
        )
    means = answers.pivot_table(index="system", columns="stimulus", values="answer", aggfunc="mean")
    means = means.reindex(ranked["system"].tolist()).dropna(axis="columns", how="all")
    return means[means.mean().sort_values(kind="stable").index]
