"""The results as one page of HTML that needs nothing but itself."""

from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from earshot.core.templates import environment
from earshot.study.analysis.report import contents, figures, tables
from earshot.study.analysis.report.method import method
from earshot.study.analysis.report.words import (
    TOO_LITTLE,
    concluded,
    counted,
    facts,
    more_raters,
    overall,
    verdict,
)
from earshot.study.analysis.results import REHEARSED, Analysis, Results
from earshot.study.design import Scale, Test

HIDDEN: Final = (
    "What raters have answered is shown once the test is closed: whoever looks at it before, and "
    "stops when it pleases, finds differences that are not there."
)


@dataclass(frozen=True)
class Findings:
    """The findings on a scale: its figure, its tables, and what is said of them."""

    figure: Markup
    sheets: list[tables.Sheet]
    said: list[str]


@dataclass(frozen=True)
class ScaleFindings:
    """The findings on a scale by those who are kept, None where nobody has rated, and of each
    stimulus; where somebody is left out also by everyone, and both side by side.
    """

    scale: Scale
    kept: Findings | None
    stimuli: Markup
    everyone: Findings | None = None
    both_ways: tables.Sheet | None = None


def page(results: Results, progress: str = "") -> str:
    """Write HTML with its styles and figures inside, in light and dark. progress: of a test that
    runs, as HTML (earshot.study.analysis.report.progress)."""
    scales = results.by_scale
    return render(
        "results.html",
        **_head(results),
        sentence=concluded(results),
        notes=results.notes,
        progress=Markup(progress),
        several=bool(results.test.scales),
        scales=list(map(_of_scale, scales)),
        more=[each.named(said) for each in scales for said in more_raters(each.kept)],
        too_little=TOO_LITTLE,
        robust=[sheet for each in scales for sheet in tables.robustness(each)],
        method=list(method(results)),
        paragraph_for_a_paper=contents.paragraph(results),
        checklist=contents.checklist(results),
    )


def running(results: Results, standing: str = "") -> str:
    """Write the page of a test that runs: who came and how far it is, and no estimate of anything,
    for whoever looks at those while raters still come, and stops when they please, finds
    differences that are not there (see benchmarks/study.md). standing: how it stands, as HTML."""
    return render(
        "running.html",
        **_head(results),
        sentence=HIDDEN,
        notes=(),
        standing=Markup(standing),
    )


def rehearsal(results: Results) -> str:
    """Write what made-up raters found, as HTML to put into a page where nobody has rated yet."""
    scales = results.by_scale
    return render(
        "rehearsal.html",
        raters=counted(results.started, "simulated rater"),
        note=REHEARSED,
        sentence=concluded(results),
        several=bool(results.test.scales),
        scales=list(map(_of_scale, scales)),
        more=[each.named(said) for each in scales for said in more_raters(each.kept)],
        too_little=TOO_LITTLE,
    )


def render(name: str, /, **values: Any) -> str:
    """Fill the template of that name; those of pages extend page.html: a title, a few facts, what
    is said in one sentence, notes to know before one believes it, and the name of the test."""
    return _environment().get_template(name).render(values)


@cache
def _environment() -> Environment:
    return environment([Path(__file__).parent])


def _head(results: Results) -> dict[str, Any]:
    """Gather what the pages of a test share."""
    return {
        "title": results.test.title,
        "name": results.test.name,
        "facts": facts(results),
        "flow": contents.flow(results),
        "left_out": tables.left_out(results) if results.exclusions else None,
        "asked": contents.asked(results),
    }


def _of_scale(results: Results) -> ScaleFindings:
    test = results.test
    kept = _findings(test, results.kept, "kept")
    found = ScaleFindings(results.scale, kept, _stimuli(test, results.kept))
    if not results.exclusions:
        return found
    everyone = _findings(test, results.everyone, "everyone")
    return replace(found, everyone=everyone, both_ways=tables.both_ways(results))


def _findings(test: Test, analysis: Analysis, name: str) -> Findings | None:
    if analysis.answers.empty:
        return None
    draw, label = partial(figures.figure, test, analysis), verdict(test, analysis)
    figure = figures.inline(draw, f"{test.name}-{analysis.scale.name}-{name}", label)
    return Findings(figure, tables.of_analysis(analysis), list(overall(analysis)))


def _stimuli(test: Test, analysis: Analysis) -> Markup:
    if analysis.answers.empty:
        return Markup()
    draw, name = partial(figures.stimuli, analysis), f"{test.name}-{analysis.scale.name}-stimuli"
    return figures.inline(draw, name, "Mean answer to each stimulus")
