"""The results as one page of HTML that needs nothing but itself."""

from collections.abc import Iterable
from functools import partial
from html import escape
from pathlib import Path
from string import Template

from earshot.study.analysis.report import contents, figures, tables
from earshot.study.analysis.report.method import method
from earshot.study.analysis.report.words import (
    TOO_LITTLE,
    concluded,
    facts,
    more_raters,
    overall,
    verdict,
)
from earshot.study.analysis.results import Analysis, Results
from earshot.study.design import Test

HIDDEN = (
    "What raters have answered is shown once the test is closed: who looks at it before, and stops "
    "when it pleases, finds differences that are not there."
)
TEMPLATE = Template(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))


def page(results: Results, progress: str = "") -> str:
    """Write HTML with its styles and figures inside, in light and dark. progress: of a test that
    runs, as HTML (study.analysis.report.progress)."""
    test, kept = results.test, results.kept
    parts = [
        progress,
        _results(test, kept, "kept"),
        _stimuli(test, kept),
        "<h2>How many more raters?</h2>",
        listed(more_raters(test, kept)) or f"<p>{TOO_LITTLE}</p>",
        *_robust(results),
        f"<h2>Who is left out</h2>{tables.html(contents.flow(results))}{_exclusions(results)}",
        '<h2>Method</h2><div class="method">',
        *(f"<p>{escape(paragraph)}</p>" for paragraph in method(results)),
        "</div>",
        f"<h2>What was asked</h2>{tables.html(contents.asked(results))}",
        f"<h2>For a paper</h2><p>{escape(contents.paragraph(results))}</p>",
        tables.html(contents.checklist(results)),
    ]
    foot = f"Name of the test: <code>{escape(test.name)}</code>."
    return whole(test.title, facts(results), concluded(results), kept.notes, "".join(parts), foot)


def running(results: Results, standing: str = "") -> str:
    """Write the page of a test that runs: who came and how far it is, and no estimate of anything,
    for who looks at those while raters still come, and stops when they please, finds differences
    that are not there (see benchmarks/study.md). standing: how it stands, as HTML."""
    test = results.test
    parts = [
        standing,
        f"<h2>Who is left out so far</h2>{tables.html(contents.flow(results))}",
        tables.html(tables.left_out(results)) if results.exclusions else "",
        f"<h2>What is asked</h2>{tables.html(contents.asked(results))}",
    ]
    foot = f"Name of the test: <code>{escape(test.name)}</code>."
    return whole(test.title, facts(results), HIDDEN, (), "".join(parts), foot)


def whole(
    title: str, few: Iterable[str], sentence: str, notes: Iterable[str], body: str, foot: str
) -> str:
    """Write a page of results: a few words on what it is about, what it says in one sentence, what
    to know before one believes it, and all else; body and foot are HTML, the others text."""
    return TEMPLATE.substitute(
        title=escape(title),
        facts="".join(f"<li>{escape(fact)}</li>" for fact in few),
        verdict=escape(sentence),
        notes="".join(f'<p class="note">{escape(note)}</p>' for note in notes),
        body=body,
        foot=foot,
    )


def _results(test: Test, analysis: Analysis, name: str) -> str:
    if analysis.answers.empty:
        return ""
    draw, label = partial(figures.figure, test, analysis), verdict(test, analysis)
    figure = figures.inline(draw, f"{test.name}-{name}", label)
    sheets = "".join(map(tables.html, tables.of_analysis(test.design.scale, analysis)))
    return figure + sheets + listed(overall(analysis))


def _stimuli(test: Test, analysis: Analysis) -> str:
    if analysis.answers.empty:
        return ""
    draw = partial(figures.stimuli, test, analysis)
    figure = figures.inline(draw, f"{test.name}-stimuli", "Mean answer to each stimulus")
    return f"<h2>Which sounds decide?</h2>{figure}"


def _robust(results: Results) -> list[str]:
    sheets = tables.robustness(results)
    head = ["<h2>Does it depend on how it was found?</h2>"] if sheets else []
    return head + [tables.html(sheet) for sheet in sheets]


def _exclusions(results: Results) -> str:
    if not results.exclusions:
        return "<p>Nobody, by the rules that are stated under Method.</p>"
    return (
        "<p>By the rules that are stated under Method:</p>"
        + tables.html(tables.left_out(results))
        + tables.html(tables.both_ways(results))
        + "<details><summary>All results with everyone</summary>"
        + _results(results.test, results.everyone, "everyone")
        + "</details>"
    )


def listed(items: Iterable[str]) -> str:
    """Write texts as a list."""
    found = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<ul>{found}</ul>" if found else ""
