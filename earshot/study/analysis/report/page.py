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
        *map(_of_scale, results.by_scale),
        "<h2>How many more raters?</h2>",
        listed(each.named(said) for each in results.by_scale for said in more_raters(each.kept))
        or f"<p>{TOO_LITTLE}</p>",
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


def _of_scale(results: Results) -> str:
    """Write what is known of one scale, under its name where a trial has several."""
    head = f"<h2>{escape(results.scale.title)}</h2>" if results.test.scales else ""
    asked = f"<p>{escape(results.scale.question)}</p>" if head else ""
    body = _results(results.test, results.kept, "kept") + _stimuli(results.test, results.kept)
    return head + asked + body


def _results(test: Test, analysis: Analysis, name: str) -> str:
    if analysis.answers.empty:
        return ""
    draw, label = partial(figures.figure, test, analysis), verdict(test, analysis)
    figure = figures.inline(draw, f"{test.name}-{analysis.scale.name}-{name}", label)
    sheets = "".join(map(tables.html, tables.of_analysis(analysis)))
    return figure + sheets + listed(overall(analysis))


def _stimuli(test: Test, analysis: Analysis) -> str:
    if analysis.answers.empty:
        return ""
    draw, name = partial(figures.stimuli, analysis), f"{test.name}-{analysis.scale.name}-stimuli"
    figure, level = (
        figures.inline(draw, name, "Mean answer to each stimulus"),
        2 + bool(test.scales),
    )
    return f"<h{level}>Which sounds decide?</h{level}>{figure}"


def _robust(results: Results) -> list[str]:
    sheets = [sheet for each in results.by_scale for sheet in tables.robustness(each)]
    head = ["<h2>Does it depend on how it was found?</h2>"] if sheets else []
    return head + [tables.html(sheet) for sheet in sheets]


def _exclusions(results: Results) -> str:
    if not results.exclusions:
        return "<p>Nobody, by the rules that are stated under Method.</p>"
    return (
        "<p>By the rules that are stated under Method:</p>"
        + tables.html(tables.left_out(results))
        + "".join(tables.html(tables.both_ways(each)) for each in results.by_scale)
        + "<details><summary>All results with everyone</summary>"
        + "".join(_results(each.test, each.everyone, "everyone") for each in results.by_scale)
        + "</details>"
    )


def listed(items: Iterable[str]) -> str:
    """Write texts as a list."""
    found = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<ul>{found}</ul>" if found else ""
