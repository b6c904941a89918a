"""The tables of the report, for its pages of HTML and of PDF."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from earshot.study.analysis.report.prose import interval, number, p_value
from earshot.study.analysis.results import Analysis, Results
from earshot.study.design import Scale, Test
from earshot.study.design.designs import AB, CCR
from earshot.study.storage.raters import SIMULATED

SHARE = AB.scale  # whose numbers are shares
PLAIN = CCR.scale  # its numbers are no shares and have two decimals
EFFECTS = {
    "position": "Position: the first or right one of those shown at once",
    "order": "Order: from a rater’s first trial to the last",
    "fatigue": "Fatigue: distance from the usual answer, from first to last",
    "drift": "Drift: from the first day to the last",
}


@dataclass(frozen=True)
class Sheet:
    """A table as it is read: head and rows of cells, of which the first are text (so many), and the
    others figures. names: how many of the text are names, which stay on one line."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: int = 1
    names: int = 1


def systems(scale: Scale, analysis: Analysis) -> Sheet:
    """Make the table of what is known of each system."""
    if scale.of_pairs:
        rows = [[row["system"], *_estimate(PLAIN, row, True)] for row in _rows(analysis.systems)]
        model = "Plackett–Luce" if scale.ranked else "Bradley–Terry"
        return Sheet(f"{model} strengths", ["System", "Strength", "95 % interval"], rows)
    head = ["System", scale.measure, "95 % interval"]
    rows = [[row["system"], *_estimate(scale, row)] for row in _rows(analysis.systems)]
    if "median" in analysis.systems:
        head += ["Median", "Quartiles"]
        for cells, row in zip(rows, _rows(analysis.systems), strict=True):
            quartiles = f"{number(scale, row['q1'])} – {number(scale, row['q3'])}"
            cells += [number(scale, row["median"]), quartiles]
    if "own_spread" in analysis.systems:
        head.append("SD of a rater’s own")
        for cells, row in zip(rows, _rows(analysis.systems), strict=True):
            cells.append(number(scale, row["own_spread"]))
    head.append("Ratings")
    for cells, row in zip(rows, _rows(analysis.systems), strict=True):
        cells.append(str(row["ratings"]))
    return Sheet("Systems", head, rows)


def pairs(scale: Scale, analysis: Analysis) -> Sheet:
    """Make the table of how each two systems differ."""
    table, shares = analysis.pairs, scale.of_pairs and scale.shares
    head = ["System", "Other", scale.measure if shares else "Difference", "95 % interval"]
    head += ["d′", "95 % interval"] if "d_prime" in table else []
    head += ["Won / tied / lost", "p, sign test"] if "p_binomial" in table else []
    head += ["p, Holm"] + (["p, Wilcoxon, Holm"] if "p_wilcoxon_holm" in table else [])
    rows = []
    for row in _rows(table):
        cells = [row["system"], row["other"], *_estimate(scale, row, signed=not shares)]
        if "d_prime" in row:
            cells += [number(PLAIN, row["d_prime"]), interval(PLAIN, row["d_low"], row["d_high"])]
        if "p_binomial" in row:
            cells += [f"{row['won']} / {row['tied']} / {row['lost']}", p_value(row["p_binomial"])]
        cells.append(p_value(row["p_holm"]))
        if "p_wilcoxon_holm" in row:
            cells.append(p_value(row["p_wilcoxon_holm"]))
        rows.append(cells)
    return Sheet("Pairs", head, rows, text=2, names=2)


def staircase(analysis: Analysis, decimals: int) -> list[Sheet]:
    """Make the tables of a threshold, with so many decimals, and of the levels that were asked
    for."""
    scale = replace(PLAIN, decimals=decimals)
    rows = [
        [row["system"].capitalize(), *_estimate(scale, row)]
        + [number(scale, row[name]) for name in ("spread", "width")]
        for row in _rows(analysis.threshold)
    ]
    head = ["", "Level", "95 % interval", "Spread of raters (SD)", "Width of the function"]
    counts = [
        [row["system"], f"{row['level']:g}", str(row["ratings"]), number(SHARE, row["value"])]
        for row in _rows(analysis.pairs)
    ]
    of_levels = Sheet(
        "Levels (chosen by the answers)", ["System", "Level", "Answers", "Right"], counts
    )
    return [Sheet("Threshold", head, rows, names=0), of_levels]


def of_analysis(test: Test, analysis: Analysis) -> list[Sheet]:
    """Make the tables of systems and of pairs, where there are any."""
    scale = analysis.scale
    if test.staircase and len(analysis.threshold):
        return staircase(analysis, test.staircase.decimals)
    sheets = [systems(scale, analysis)] if len(analysis.systems) else []
    return sheets + ([pairs(scale, analysis)] if len(analysis.pairs) else [])


def effects(scale: Scale, results: Results) -> Sheet:
    """Make the table of how far answers depend on the order and the place of sounds."""
    rows = [
        [EFFECTS[row["effect"]], *_estimate(scale, row, True), p_value(row["p_holm"])]
        for row in _rows(results.effects)
        if row["value"] == row["value"]  # NaN where nothing changed
    ]
    head = ["Effect", "Change", "95 % interval", "p, Holm"]
    return Sheet(results.named("How sounds were presented"), head, rows, names=0)


def models(results: Results) -> Sheet:
    """Make the table of the differences of systems by two other models."""
    rows = []
    for row in _rows(results.models):
        cells = [row["system"], row["other"]]
        for name in ("bias", "logit"):
            cells.append(number(PLAIN, row[name], signed=True))
            cells.append(interval(PLAIN, row[f"{name}_low"], row[f"{name}_high"], signed=True))
            cells.append(p_value(row[f"{name}_p_holm"]))
        rows.append(cells)
    head = ["System", "Other", "Bias removed", "95 % interval", "p, Holm"]
    head += ["Log odds", "95 % interval", "p, Holm"]
    return Sheet(results.named("By other models"), head, rows, text=2, names=2)


def robustness(results: Results) -> list[Sheet]:
    """Make the tables of what could have been found otherwise, where there are any."""
    sheets = [effects(results.scale, results)] if len(results.effects) else []
    sheets += [models(results)] if len(results.models) else []
    return [sheet for sheet in sheets if sheet.rows]


def faults(results: Results) -> Sheet:
    """Make the table of the faults that raters ticked, by system."""
    rows = [
        [row["fault"], row["system"], *_estimate(SHARE, row), str(row["ratings"])]
        for row in _rows(results.faults)
    ]
    head = ["Fault", "System", "Ticked", "95 % interval", "Sounds rated"]
    return Sheet("Faults that raters ticked (each interval by itself)", head, rows, 2, 2)


def left_out(results: Results) -> Sheet:
    """Make the table of whom the rules exclude, and why."""
    rows = [
        [who.rater.removeprefix(SIMULATED)[:8], "; ".join(who.reasons)]
        for who in results.exclusions
    ]
    return Sheet("Raters left out", ["Rater", "Reasons"], rows, text=2)


def both_ways(results: Results) -> Sheet:
    """Make the table of what the exclusions change, a row for each system or pair."""
    scale = results.scale
    both = (results.included, results.everyone)
    tables = [a.pairs if scale.of_pairs else a.systems for a in both]
    if results.test.staircase:
        scale = replace(PLAIN, decimals=results.test.staircase.decimals)
        tables = [a.threshold for a in both]
    # A pair may be named the other way round, when another system leads.
    keys = [{_key(row): row for row in _rows(table)} for table in tables]
    rows = []
    for key, whole in keys[1].items():
        own = keys[0].get(key)
        if own is None and len(key) == 2 and key[::-1] in keys[0]:
            own = _turned(scale, keys[0][key[::-1]])
        cells = _estimate(scale, own) if own else ["–", "–"]
        rows.append([" and ".join(key), *cells, *_estimate(scale, whole)])
    who = "Pair" if scale.of_pairs else "System"
    head = [who, "Without them", "95 % interval", "With everyone", "95 % interval"]
    return Sheet(results.named("Both ways"), head, rows)


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return (row["system"], row["other"]) if "other" in row else (row["system"],)


def _turned(scale: Scale, row: dict[str, Any]) -> dict[str, Any]:
    """Turn the row of a pair to the side of the other system."""
    if scale.null is None:
        return row
    low, high = (2 * scale.null - row[end] for end in ("high", "low"))
    return row | {"value": 2 * scale.null - row["value"], "low": low, "high": high}


def _estimate(scale: Scale, row: dict[str, Any], signed: bool = False) -> list[str]:
    within = interval(scale, row["low"], row["high"], signed)
    return [number(scale, row["value"], signed), within]


def _rows(table: Any) -> list[dict[str, Any]]:
    return table.to_dict("records")
