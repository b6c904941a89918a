"""Two tests of one design side by side: what both have rated, and by how much they differ."""

from dataclasses import dataclass
from typing import Final

import pandas as pd

from earshot.core.errors import InputError
from earshot.study.analysis import mos
from earshot.study.analysis.clustered import ROUNDING, difference
from earshot.study.analysis.results import Results
from earshot.study.analysis.stimuli import told
from earshot.study.analysis.tables import Table, codes, estimate_row, holm
from earshot.study.design import Test

OTHER_DESIGN: Final = "These tests have different designs, so their ratings cannot be compared."
ADAPTIVE: Final = (
    "In an adaptive test pairs were chosen by the votes, so their shares cannot be compared with "
    "those of another test."
)
NOTHING: Final = "These tests have no system in common that both have ratings of."


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of two tests. table: a row a system, or pair, that both tests have rated, in the
    order of the first: system; other, in designs with pairs; one_value, one_low, one_high;
    two_value, two_low, two_high; value (the first's mean less the second's), low, high, p, and
    p_holm over all.
    """

    one: Results
    two: Results
    table: Table


def check_comparable(one: Test, two: Test) -> None:
    """Raise InputError for tests of different designs or first scales, and for adaptive ones."""
    first, second = one.rated[0], two.rated[0]
    same = (first.name, first.numbers) == (second.name, second.numbers)
    if one.design != two.design or not same:
        raise InputError(OTHER_DESIGN)
    if "adaptive" in (one.pairing, two.pairing):
        raise InputError(ADAPTIVE)


def compare(one: Results, two: Results) -> Comparison:
    """Compare the raters whom the rules keep, on the first scale where a trial has several.

    Raters and stimuli are clusters over both tests (see clustered.Variance), and a stimulus that
    has the same name in both is one stimulus: what it adds to both cancels. Raises InputError where
    there is nothing to compare.
    """
    check_comparable(one.test, two.test)
    scale = one.scale
    keys = ["system", "other"] if scale.of_pairs else ["system"]
    first, second = map(_told, (one, two))
    rounding = 0.0 if scale.bounds == (0, 1) else ROUNDING  # as in the report of each
    ranked = one.kept.pairs if scale.of_pairs else one.kept.systems
    rows = []
    for key in ranked[keys].itertuples(index=False) if len(ranked) else []:
        own = [table[(table[keys] == list(key)).all(axis=1)] for table in (first, second)]
        if any(table.empty for table in own):
            continue
        both = pd.concat(own, keys=["one", "two"], names=["test_of"]).reset_index("test_of")
        is_first = (both["test_of"] == "one").to_numpy(bool)
        gap = difference(both["answer"].to_numpy(float), is_first, *codes(both), rounding)
        row = dict(zip(keys, key, strict=True))
        for name, table in zip(("one", "two"), own, strict=True):
            found = mos.systems(table, scale.bounds).iloc[0]
            row |= {f"{name}_{end}": found[end] for end in ("value", "low", "high")}
        rows.append(row | estimate_row(gap))
    if not rows:
        raise InputError(NOTHING)
    table = pd.DataFrame(rows)
    return Comparison(one, two, table.assign(p_holm=holm(table["p"])))


def _told(results: Results) -> Table:
    """Turn the answers of a test into those whose means its report gives."""
    scale, answers = results.scale, results.kept.answers
    return mos.scored(results.test, scale, answers) if scale.typed else told(scale, answers)
