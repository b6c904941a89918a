"""The results as one page of HTML that needs nothing but itself."""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from string import Template

import numpy as np

from study.analysis import plots, report_tables
from study.analysis.method import method
from study.analysis.results import Analysis, Results
from study.analysis.words import NAMES, more_raters, p_value, verdict
from study.design import Test

TEMPLATE = Template(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))


def page(results: Results) -> str:
    """HTML with its styles and figures inside, in light and dark."""
    test, kept = results.test, results.kept
    return TEMPLATE.substitute(
        title=escape(test.title),
        name=escape(test.name),
        facts="".join(f"<li>{escape(fact)}</li>" for fact in _facts(results)),
        verdict=escape(_verdict(results)),
        notes="".join(f'<p class="note">{escape(note)}</p>' for note in kept.notes),
        results=_results(test, kept, "kept"),
        power=_list(more_raters(test, kept)) or "<p>There is too little yet to say.</p>",
        exclusions=_exclusions(results),
        method="".join(f"<p>{escape(paragraph)}</p>" for paragraph in method(results)),
    )


def _verdict(results: Results) -> str:
    if results.kept.answers.empty and results.exclusions:
        return "Everyone is left out by the rules below, and so there is no result."
    return verdict(results.test, results.kept)


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
        parts.append(report_tables.systems(test.design, analysis))
    if len(analysis.pairs):
        parts.append(report_tables.pairs(test.design, analysis))
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


def _exclusions(results: Results) -> str:
    if not results.exclusions:
        return "<p>Nobody, by the rules that are stated under Method.</p>"
    rows = [[who.rater[:8], "; ".join(who.reasons)] for who in results.exclusions]
    return (
        "<p>By the rules that are stated under Method:</p>"
        + report_tables.table("Raters left out", ["Rater", "Reasons"], rows, text=2)
        + report_tables.both_ways(results)
        + "<details><summary>All results with everyone</summary>"
        + _results(results.test, results.everyone, "everyone")
        + "</details>"
    )


def _list(items: Iterable[str]) -> str:
    found = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<ul>{found}</ul>" if found else ""
