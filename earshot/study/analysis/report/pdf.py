"""The results as a PDF to file or to send: the report without its page."""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any, Final

import matplotlib
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Image, Paragraph, SimpleDocTemplate, Table, TableStyle

from earshot.study.analysis.report import figures, paper, sheets
from earshot.study.analysis.report.method import method
from earshot.study.analysis.report.panels import INK, LINE, QUIET
from earshot.study.analysis.report.prose import TOO_LITTLE, conclusion, facts, more_raters, overall
from earshot.study.analysis.results import Results

REGULAR, BOLD = "DejaVuSans", "DejaVuSans-Bold"  # with Greek letters and signs of mathematics
# Chinese and Japanese, which the others lack. It is not in the file: readers have the font.
CHINESE: Final = "STSong-Light"
IDEOGRAMS: Final = re.compile("[\u2e80-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]+")
FONTS: Final = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
MARGIN: Final = 20 * mm
PADDING: Final = 6  # points, of reportlab's frame
WIDTH: Final = A4[0] - 2 * MARGIN
MAX_LENGTH: Final = 300  # characters of a cell: one that is higher than a page has no place

BODY: Final = ParagraphStyle(
    "body", fontName=REGULAR, fontSize=9, leading=13, textColor=HexColor(INK)
)
SMALL: Final = ParagraphStyle("small", BODY, fontSize=7.5, leading=10)
COLUMN: Final = ParagraphStyle("column", SMALL, fontName=BOLD)
QUIETER: Final = ParagraphStyle("quiet", BODY, textColor=HexColor(QUIET))
TITLE: Final = ParagraphStyle("title", BODY, fontName=BOLD, fontSize=16, leading=20)
HEAD: Final = ParagraphStyle(
    "head", BODY, fontName=BOLD, fontSize=11, spaceBefore=14, spaceAfter=4, keepWithNext=1
)
VERDICT: Final = ParagraphStyle("verdict", BODY, fontSize=11, leading=16, spaceBefore=10)


def document(results: Results) -> bytes:
    """Write the bytes of the PDF, A4; the same for the same results."""
    _register_fonts()
    file = io.BytesIO()
    pages = SimpleDocTemplate(
        file,
        pagesize=A4,
        leftMargin=MARGIN - PADDING,
        rightMargin=MARGIN - PADDING,
        topMargin=MARGIN,
        bottomMargin=MARGIN,
        title=results.test.title,
        author="Earshot’s listening tests",
        invariant=1,
    )
    number = partial(_number, results.test.name)
    pages.build([*_story(results)], onFirstPage=number, onLaterPages=number)
    return file.getvalue()


@cache
def _register_fonts() -> None:
    """Read the fonts, which takes longer than the rest of a short report, once."""
    for name in (REGULAR, BOLD):
        registerFont(TTFont(name, FONTS / f"{name}.ttf"))
    registerFont(UnicodeCIDFont(CHINESE))


def _story(results: Results) -> Iterator[Any]:
    yield _text(results.test.title, TITLE)
    yield _text(" · ".join(facts(results)), QUIETER)
    yield _text(conclusion(results), VERDICT)
    yield from _list(results.notes)
    if not results.started:  # a board of zeros says nothing
        yield _text("What is asked", HEAD)
        yield _table(paper.facts_of_test(results))
        return
    for each in results.by_scale:
        yield from _of_scale(each)
    if len(results.faults):
        yield _text("What was wrong?", HEAD)
        yield _table(sheets.faults(results))
    yield _text("How many more raters?", HEAD)
    scales = results.by_scale
    more = [each.named(sentence) for each in scales for sentence in more_raters(each.included)]
    yield from _list(more) or [_text(TOO_LITTLE)]
    if robust := [sheet for each in results.by_scale for sheet in sheets.robustness(each)]:
        yield _text("Does it depend on how it was found?", HEAD)
        yield from map(_table, robust)
    yield _text("Who is left out", HEAD)
    yield _table(paper.flow(results))
    if results.exclusions:
        yield _table(sheets.left_out(results))
        yield from (_table(sheets.both_ways(each)) for each in results.by_scale)
    else:
        yield _text("Nobody, by the rules that are stated under Method.")
    yield _text("Method", HEAD)
    for paragraph in method(results):
        yield _text(paragraph, QUIETER)
    yield _text("What was asked", HEAD)
    yield _table(paper.facts_of_test(results))
    yield _text("For a paper", HEAD)
    yield _text(paper.paragraph(results))
    yield _table(paper.checklist(results))
    yield _table(paper.reviewer_checklist(results))


def _of_scale(results: Results) -> Iterator[Any]:
    """Yield what is known of one scale, under its name where a trial has several."""
    test, included = results.test, results.included
    if test.scales:
        yield _text(results.scale.title, HEAD)
        yield _text(results.scale.question, QUIETER)
    if included.answers.empty:
        return
    yield _image(partial(figures.figure, test, included))
    for sheet in sheets.of_analysis(test, included):
        yield _table(sheet)
    yield from _list(overall(included))
    yield _text("Which sounds decide?", HEAD)
    yield _image(partial(figures.stimuli, included))


def _text(text: str, style: ParagraphStyle = BODY) -> Paragraph:
    marked, count = IDEOGRAMS.subn(rf'<font name="{CHINESE}">\g<0></font>', escape(text))
    # They have no spaces to break a line at.
    return Paragraph(marked, ParagraphStyle("broken", style, wordWrap="CJK") if count else style)


def _list(items: Iterable[str]) -> list[Paragraph]:
    return [_text(f"• {item}") for item in items]


def _image(draw: Callable[[], Any]) -> Image:
    picture, ratio = figures.png(draw)
    # At most two thirds of a page high.
    width = min(WIDTH, 2 / 3 * A4[1] / ratio)
    return Image(io.BytesIO(picture), width, width * ratio)


def _table(sheet: sheets.Sheet) -> Table:
    caption = [_text(sheet.caption, QUIETER), *[""] * (len(sheet.head) - 1)]
    head = [_text(cell, COLUMN) for cell in sheet.head]
    body = [[_text(cell[:MAX_LENGTH], SMALL) for cell in row] for row in sheet.rows]
    rule = TableStyle(
        [
            ("SPAN", (0, 0), (-1, 0)),
            ("LINEBELOW", (0, 1), (-1, -1), 0.5, HexColor(LINE)),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("LEFTPADDING", (0, 0), (-1, -1), 0),
        ]
    )
    widths = [WIDTH / len(head)] * len(head)
    rows = [caption, head, *body]
    return Table(rows, widths, repeatRows=2, style=rule, spaceBefore=8, spaceAfter=8)


def _number(name: str, canvas: Any, pages: Any) -> None:
    """Write the foot of a page."""
    canvas.setFont(REGULAR, 7.5)
    canvas.setFillColor(HexColor(QUIET))
    canvas.drawString(MARGIN, MARGIN / 2, name)
    canvas.drawRightString(A4[0] - MARGIN, MARGIN / 2, str(pages.page))
