"""A second look at a published data set, in another installation: the answers are put into a store
of their own, and tables and report are made of them anew, and compared.
"""

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from sqlalchemy.exc import SQLAlchemyError

from earshot.core.errors import InputError
from earshot.core.paths import release
from earshot.study.analysis import publication
from earshot.study.analysis.publication import Circumstances
from earshot.study.design import Test
from earshot.study.imports.dataset_zip import NOT_OURS, printable, read_files, restore, short
from earshot.study.storage import dataset

MAX_LISTED: Final = 40  # differences
MAX_WHY: Final = 600  # characters of why it is refused, and of where something differs
MALFORMED: Final = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, TypeError),
    ValueError,
)
VERSIONS: Final = re.compile(r"\b(Earshot|statsmodels|SciPy) \d[\w.+]*")
# With what turns its meaning over: a sign, and whether it is a limit.
NUMBER: Final = re.compile(r"(?:[<>≤≥] ?)?[−+-]?\d+(?:[.,]\d+)*")
SKIPPED: Final = ("style", "script", "title")  # which print no figures
BLOCKS: Final = ("p", "li", "h1", "h2", "h3", "caption", "th", "td", "summary", "text")
# What of a style may hide, cover or fetch something; and escapes and comments, which may spell it.
CONCEALING: Final = re.compile(
    r"(?<![\w-])(?:display|visibility|position|(?:fill-)?opacity|content|clip|transform|inset"
    r"|text-indent|z-index|mask|filter)\s*:[^;}]*"
    r"|(?<![\w-])(?:color|fill)\s*:\s*(?:none|transparent|white|#fff\w*)"
    r"|(?<![\w-])font(?:-size)?\s*:\s*0[^;}]*|@import|url\(\s*[\"']?(?!#)|\\|/\*"
)
FOREIGN: Final = "{name} has what Earshot does not write: {what}. It may hide or run something."
OTHER_VERSION: Final = (
    "ATTENTION: it is of another version, so that markup, styles and scripts of the report were "
    "not compared one by one: it may look otherwise than its figures. Read the report made here "
    "(--out)."
)
NOT_COMPUTED: Final = (
    "Taken as published, since no answer holds it: how many opened the page, how often results "
    "were looked at before the end, lengths, rates and hashes of sounds, and the note of a test "
    "that was frozen. Not compared: drawings but for their text, README.md, and what is said of "
    "columns."
)


@dataclass(frozen=True)
class Reproduction:
    """The outcome of computing a data set anew. files: all that was made; figures and cells: how
    many numbers of the report, and cells of the tables, were compared; different: a line for each
    that is not the same; worded: sentences whose numbers are the same, and whose words another
    version has changed; others: files of the zip that are none of ours; maker: the version that
    published it.
    """

    name: str
    maker: str
    files: Mapping[str, bytes]
    figures: int
    cells: int
    different: tuple[str, ...]
    worded: tuple[str, ...]
    others: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield what was found, for a terminal."""
        yield f"{self.name}, published by Earshot {self.maker}, computed anew by {release()}:"
        compared = f"{self.figures:,} figures of the report and {self.cells:,} cells of the tables"
        if not self.different:
            yield f"{compared} are the same, to the last printed digit."
        else:
            yield f"{compared} were compared, and {len(self.different):,} are not the same:"
            yield from _few(self.different)
        if self.worded:
            others = f"{len(self.worded):,} sentences have the same numbers in other words"
            yield f"{others}, which may say the contrary. Read them:"
            yield from _few(self.worded)
        if self.maker != release():
            yield OTHER_VERSION
        if self.others:
            yield f"Files that are not of Earshot's making, not looked at: {len(self.others):,}"
            yield from _few(self.others)
        yield NOT_COMPUTED


def reproduce(path: Path) -> Reproduction:
    """Compute the data set in the zip anew, and compare it with what was published. Raises
    InputError where the zip is no data set of ours, or was made by a newer version."""
    published = read_files(path)
    raw = [name for name in published if re.fullmatch(r"data/raw/[^/]+\.jsonl", name)]
    try:
        if len(raw) != 1:
            raise InputError("one file data/raw/NAME.jsonl must be in it.")
        if publication.CIRCUMSTANCES not in published:
            raise InputError(
                f"{publication.CIRCUMSTANCES} is missing. Was it exported by an older Earshot? "
                "Export it anew."
            )
        circumstances = publication.read_circumstances(published[publication.CIRCUMSTANCES])
        test, store = restore(published[raw[0]], circumstances)
        computed = dataset.files(test, store, circumstances)
        return _compare(test, circumstances, published, computed)
    except InputError as error:
        why = printable(str(error))[:MAX_WHY]
        raise InputError(NOT_OURS.format(name=path.name, why=why)) from error
    except (*MALFORMED, RecursionError, SQLAlchemyError) as error:
        why = f"its answers are not as Earshot writes them ({short(str(error))})."
        raise InputError(NOT_OURS.format(name=path.name, why=why)) from error


def _compare(
    test: Test,
    circumstances: Circumstances,
    published: Mapping[str, bytes],
    computed: Mapping[str, bytes],
) -> Reproduction:
    """Compare all that is computed with what was published."""
    same_version = circumstances.earshot == release()
    different, worded, cells, figures = [], [], 0, 0
    for name in computed:
        if name not in published:
            different.append(f"{name} is missing.")
        elif name == publication.REPORT:
            was, now = _Report(published[name]), _Report(computed[name])
            figures, numbers, words = _compare_texts(was.texts, now.texts)
            different += numbers + (words if same_version else [])
            worded += [] if same_version else words
            different += [
                FOREIGN.format(name=name, what=short(what))
                for what in sorted(was.pieces - now.pieces)
            ]
            if same_version and not (numbers or words) and was.markup != now.markup:
                different.append(f"{name} has other elements or styles, which may hide some of it.")
        elif name.endswith(".csv") and name != dataset.DICTIONARY:
            cells += _compare_tables(name, published[name], computed[name], different)
        elif name == publication.MODELS and published[name] != computed[name]:
            script = f"{name} is another script than that of Earshot {release()}"
            different.append(f"{script}: do not run it before you have read it.")
        elif name.startswith("data/raw/") and _lines(published[name]) != _lines(computed[name]):
            different.append(f"{name} has more, or less, than its answers.")
    others = sorted(short(name) for name in published.keys() - computed.keys())
    lists = (tuple(different), tuple(worded), tuple(others))
    return Reproduction(test.name, circumstances.earshot, computed, figures, cells, *lists)


def _lines(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.decode().splitlines()]


def _compare_tables(name: str, before: bytes, after: bytes, different: list[str]) -> int:
    """Note each cell of a table that is not the same: how many were compared. Hashes of sounds
    cannot be computed of answers."""
    try:
        texts = (content.decode("utf-8-sig", "replace") for content in (before, after))
        both = [list(csv.reader(io.StringIO(text, newline=""))) for text in texts]
    except csv.Error as error:
        different.append(f"{name} is no table: {error}.")
        return 0
    (head, *before_rows), (now_head, *after_rows) = (table or [[]] for table in both)
    if (len({*head}) < len(head) and head != now_head) or {*map(len, before_rows)} - {len(head)}:
        different.append(f"{name} has two columns of one name, or rows of other lengths.")
    cells = 0
    for number, (was, now) in enumerate(zip_longest(before_rows, after_rows, fillvalue=()), 1):
        one, two = dict(zip(head, was, strict=False)), dict(zip(now_head, now, strict=False))
        for column in dict.fromkeys([*two, *one]):
            if column == "sha256":
                continue
            cells += 1
            if one.get(column) != two.get(column):
                place = f"{name}, row {number}, {short(column)}"
                different.append(_difference(place, one.get(column), two.get(column)))
    return cells


def _compare_texts(
    before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]
) -> tuple[int, list[str], list[str]]:
    """Count the numbers in the texts of two reports, and list the places where they are not the
    same, and those where words are not."""
    numbers, words = [], []
    for place in dict.fromkeys([*before, *after]):
        for was, now in zip_longest(before.get(place, []), after.get(place, [])):
            if was == now:
                continue
            same = None not in (was, now) and NUMBER.findall(was) == NUMBER.findall(now)
            (words if same else numbers).append(_difference(f"report, {place}", was, now))
    figures = sum(len(NUMBER.findall(text)) for texts in after.values() for text in texts)
    return figures, numbers, words


class _Report(HTMLParser):
    """The texts of a report: of cells by heading, caption, row and column; of all else by heading.
    Without versions of software, which say who computed."""

    def __init__(self, html: bytes) -> None:
        super().__init__()
        self.texts: defaultdict[str, list[str]] = defaultdict(list)
        self._heading = self._caption = self._text = ""
        self.markup: list[object] = []  # elements with their attributes, styles and scripts
        # Of all of it, drawings too: elements, attributes, addresses and styles that may conceal.
        self.pieces: set[str] = set()
        self._skipped = self._drawings = 0
        self._head: list[str] = []
        self._row: list[str] = []
        self._names = 1
        self.feed(html.decode("utf-8", "replace"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._drawings += tag == "svg"
        if not self._drawings:
            self.markup.append((tag, attrs))
        element = f"<{tag}>{' in a drawing' * (self._drawings > 0)}"
        self.pieces.add(element)
        for name, value in attrs:
            self.pieces.add(f"{name} of {element}")
            if name == "style":
                self._add_style(element, value or "")
            elif name == "aria-label":
                self.texts[f"{self._heading}, description"].append(value or "")
            elif name.rpartition(":")[2] in ("href", "src") and not (value or "").startswith("#"):
                kind = str(value).partition(",")[0]  # of an image that is in the report
                self.pieces.add(f"{name} of {element}: {kind}")
        if tag in SKIPPED:
            self._skipped += 1
        if tag in BLOCKS:
            self._add_rest()
        if tag == "tr":
            self._row, self._names = [], 0
        if tag == "td" and ("class", "name") in attrs:
            self._names += 1

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._text += data
        else:
            place = "a drawing" if self._drawings else "the report"
            self._add_style(f"styles of {place}", data)
            if self._drawings:
                self.pieces.add(f"in a drawing: {' '.join(data.split())}")
            else:
                self.markup.append(data)

    def handle_comment(self, data: str) -> None:
        self.pieces.add("a comment")

    def handle_decl(self, decl: str) -> None:
        self.pieces.add(decl)

    def handle_pi(self, data: str) -> None:
        self.pieces.add(f"<?{data}>")

    def unknown_decl(self, data: str) -> None:
        self.pieces.add(f"<![{data}]>")

    def _add_style(self, place: str, style: str) -> None:
        for each in CONCEALING.findall(style.lower()):
            self.pieces.add(f"{''.join(each.split())} of {place}")

    def handle_endtag(self, tag: str) -> None:
        text = VERSIONS.sub(r"\1", " ".join(self._text.split()))
        self._drawings = max(self._drawings - (tag == "svg"), 0)
        if tag in SKIPPED:
            self._skipped = max(self._skipped - 1, 0)
        elif tag in ("h1", "h2", "h3"):
            self._heading = text
        elif tag == "caption":
            self._caption = text
        elif tag in ("th", "td"):
            self._row.append(text)
        elif tag == "thead":
            self._head = self._row
        elif tag == "tr" and self._row != self._head:
            self._add_row(self._row)
        elif tag in BLOCKS:
            self.texts[self._heading].append(text)
        if tag in BLOCKS:
            self._text = ""

    def close(self) -> None:
        """Take what stands after the last element, too."""
        super().close()
        self._add_rest()

    def _add_rest(self) -> None:
        """Add text that stands in none of the elements that a report has for it."""
        if text := " ".join(self._text.split()):
            self.texts[self._heading].append(text)
        self._text = ""

    def _add_row(self, row: Sequence[str]) -> None:
        names = max(self._names, 1)
        label = " and ".join(row[:names])
        for column, text in list(zip_longest(self._head, row, fillvalue=""))[names:]:
            place = ", ".join(filter(None, (self._heading, self._caption, label, column)))
            self.texts[place].append(text)


def _difference(place: str, was: str | None, now: str | None) -> str:
    parts = [
        f"{'nothing' if text is None else f'“{short(text)}”'} {when}"
        for text, when in ((was, "published"), (now, "here"))
    ]
    return f"{printable(place)[:MAX_WHY]}: {', '.join(parts)}"


def _few(texts: Sequence[str]) -> Iterator[str]:
    yield from (f"- {text}" for text in texts[:MAX_LISTED])
    if len(texts) > MAX_LISTED:
        yield f"- and {len(texts) - MAX_LISTED:,} more"
