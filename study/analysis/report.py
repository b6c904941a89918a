"""The results as one page of HTML that needs nothing but itself."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from study.analysis import plots
from study.analysis.method import method
from study.analysis.results import Analysis, Results
from study.analysis.words import MEASURES, NAMES, interval, more_raters, number, p_value, verdict
from study.design import Design, Test

TEMPLATE = Template(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))


def page(results: Results) -> str:
    """HTML with its styles and figures inside, in light and dark."""
    test, kept = results.test, results.kept
    return TEMPLATE.substitute(
        title=escape(test.title),
        name=escape(test.name),
        facts="".join(f"<li>{escape(fact)}</li>" for fact in _facts(results)),
        verdict=escape(verdict(test, kept)),
        notes="".join(f'<p class="note">{escape(note)}</p>' for note in kept.notes),
        results=_results(test, kept, "kept"),
        power=_list(more_raters(test, kept)) or "<p>There is too little yet to say.</p>",
        exclusions=_exclusions(results),
        method="".join(f"<p>{escape(paragraph)}</p>" for paragraph in method(results)),
    )


def _facts(results: Results) -> list[str]:
    kept = results.kept
    raters = f"{_count(kept.raters, 'rater')}"
    if results.exclusions:
        raters += f" of {results.started}"
    return [
        NAMES[results.test.design],
        raters,
        _count(len(kept.answers), "rating"),
        _count(kept.stimuli, "stimulus", "stimuli"),
        f"{results.finished} of {results.started} have finished",
    ]


def _count(count: int, one: str, more: str = "") -> str:
    return f"{count} {one if count == 1 else more or one + 's'}"


def _results(test: Test, analysis: Analysis, name: str) -> str:
    if analysis.answers.empty:
        return ""
    drawn = plots.inline(test, analysis, f"{test.name}-{name}")
    parts = [f'<figure aria-label="{escape(verdict(test, analysis))}">{drawn}</figure>']
    if len(analysis.systems):
        parts.append(_systems(test.design, analysis))
    if len(analysis.pairs):
        parts.append(_pairs(test.design, analysis))
    parts.append(_list(_overall(analysis)))
    return "".join(parts)


def _overall(analysis: Analysis) -> Iterable[str]:
    if analysis.overall and not np.isnan(analysis.overall["p"]):
        found = analysis.overall
        yield (
            f"All systems under test together, Friedman: χ²({found['df']:.0f}) = "
            f"{found['chi2']:.2f}, {found['raters']:.0f} raters, p {_equals(found['p'])}."
        )
    if not np.isnan(analysis.agreement):
        yield f"Agreement of the raters, Krippendorff’s α: {analysis.agreement:.2f}.".replace(
            "-", "−"
        )


def _equals(p: float) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def _systems(design: Design, analysis: Analysis) -> str:
    if design == "ab":
        rows = [
            [row["system"], *_logit(row["value"]), _between(row)] for row in _rows(analysis.systems)
        ]
        return _table("Bradley–Terry strengths", ["System", "Strength", "95 % interval"], rows)
    head = ["System", MEASURES[design], "95 % interval"]
    rows = [[row["system"], *_estimate(design, row)] for row in _rows(analysis.systems)]
    if design == "mushra":
        head += ["Median", "Quartiles"]
        for cells, row in zip(rows, _rows(analysis.systems), strict=True):
            quartiles = f"{number(design, row['q1'])} – {number(design, row['q3'])}"
            cells += [number(design, row["median"]), quartiles]
    head.append("Ratings")
    for cells, row in zip(rows, _rows(analysis.systems), strict=True):
        cells.append(str(row["ratings"]))
    return _table("Systems", head, rows)


def _logit(value: float) -> tuple[str]:
    return (f"{value:+.2f}".replace("-", "−"),)


def _between(row: dict[str, Any]) -> str:
    return f"[{row['low']:+.2f}, {row['high']:+.2f}]".replace("-", "−")


def _pairs(design: Design, analysis: Analysis) -> str:
    rows = []
    for row in _rows(analysis.pairs):
        signed = design not in ("ab", "abx")
        cells = [row["system"], row["other"], *_estimate(design, row, signed)]
        if design == "abx":
            cells += [f"{row['d_prime']:.2f}".replace("inf", "∞"), _d_interval(row)]
        if design == "ab":
            cells += [f"{row['won']} / {row['tied']} / {row['lost']}", p_value(row["p_binomial"])]
        rows.append([*cells, p_value(row["p_holm"])])
    extra = {
        "abx": ["d′", "95 % interval"],
        "ab": ["Won / tied / lost", "p, sign test"],
    }.get(design, [])
    value = {"ab": "Preferred", "abx": "Right"}.get(design, "Difference")
    tested = "p, Wilcoxon, Holm" if design == "mushra" else "p, Holm"
    head = ["System", "Other", value, "95 % interval", *extra, tested]
    return _table("Pairs", head, rows, text=2)


def _d_interval(row: dict[str, Any]) -> str:
    if np.isnan(row["d_low"]):
        return "–"
    return f"[{row['d_low']:.2f}, {row['d_high']:.2f}]".replace("inf", "∞")


def _exclusions(results: Results) -> str:
    rules = results.rules.in_words(results.test)
    stated = f"<p>Rules: {escape('; '.join(rules))}.</p>" if rules else "<p>There are no rules.</p>"
    if not results.exclusions:
        return f"{stated}<p>Nobody: the results are those of all raters.</p>"
    rows = [[who.rater[:8], "; ".join(who.reasons)] for who in results.exclusions]
    return (
        stated
        + _table("Raters left out", ["Rater", "Reasons"], rows, text=2)
        + _both_ways(results)
        + "<details><summary>All results with everyone</summary>"
        + _results(results.test, results.everyone, "everyone")
        + "</details>"
    )


def _both_ways(results: Results) -> str:
    """What the exclusions change, a row a system or pair."""
    design = results.test.design
    of_pairs = design in ("ab", "abx", "ccr")
    tables = [a.pairs if of_pairs else a.systems for a in (results.kept, results.everyone)]
    # A pair may be named the other way round, when another system leads.
    keys = [{_key(row): row for row in _rows(table)} for table in tables]
    rows = []
    for key, whole in keys[1].items():
        own = keys[0].get(key)
        if own is None and len(key) == 2 and key[::-1] in keys[0]:
            own = _turned(design, keys[0][key[::-1]])
        cells = _estimate(design, own) if own else ["–", "–"]
        rows.append([" and ".join(key), *cells, *_estimate(design, whole)])
    who = "Pair" if of_pairs else "System"
    head = [who, "Without them", "95 % interval", "With everyone", "95 % interval"]
    return _table("Both ways", head, rows)


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return (row["system"], row["other"]) if "other" in row else (row["system"],)


def _turned(design: Design, row: dict[str, Any]) -> dict[str, Any]:
    """The row of a pair, told of the other system."""
    if design == "abx":
        return row
    whole = 1 if design == "ab" else 0
    low, high = whole - row["high"], whole - row["low"]
    return row | {"value": whole - row["value"], "low": low, "high": high}


def _estimate(design: Design, row: dict[str, Any], signed: bool = False) -> list[str]:
    within = interval(design, row["low"], row["high"], signed)
    return [number(design, row["value"], signed), within]


def _rows(table: Any) -> list[dict[str, Any]]:
    return table.to_dict("records")


def _list(items: Iterable[str]) -> str:
    found = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<ul>{found}</ul>" if found else ""


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], text: int = 1) -> str:
    """The first columns are text, the others figures."""

    def line(tag: str, cells: Sequence[str]) -> str:
        kinds = ["", *[""] * (text - 1), *[' class="number"'] * (len(cells) - text)]
        pairs = zip(kinds, cells, strict=True)
        return f"<tr>{''.join(f'<{tag}{kind}>{escape(cell)}</{tag}>' for kind, cell in pairs)}</tr>"

    body = "".join(line("td", row) for row in rows)
    head_line = line("th", head)
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption>'
        f"<thead>{head_line}</thead><tbody>{body}</tbody></table></div>"
    )
