"""CSV files: as others wrote them, which may be anything at all, and as spreadsheets open them."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from earshot.core.errors import InputError
from earshot.media.text.letters import composed

MAX_FILE_BYTES: Final = 20_000_000
MAX_COLUMNS: Final = 1000
MAX_CELLS: Final = 5_000_000
MAX_ROWS: Final = 200_000  # which readers keep
MAX_LENGTH: Final = 10_000  # characters of a cell
DELIMITERS: Final = ",;\t"
# Also what is not to be seen, as spaces of no width and marks of direction.
BLANK: Final = " \t\r\n\v\f\xa0\ufeff\u200b\u200e\u200f\u202f\u2060\u3000"
# By the bytes that such a file begins with; the first is UTF-8's.
MARKS: Final = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
NO_CSV: Final = (
    "This is not a CSV file: a table of text with a head, whose cells are parted by commas, "
    "semicolons or tabs."
)
WORKBOOK: Final = (
    "This is not a CSV file but a spreadsheet's own: open it there, and save it as CSV in UTF-8."
)
PACKED: Final = "This is not a CSV file but an archive: unpack it, and choose what is in it."
PAGE: Final = (
    "This is not a CSV file but a web page, as a download gives that wants a login, or failed."
)
OTHER_FORMATS: Final = {  # how files begin that are called .csv and are none
    b"PK\3\4": WORKBOOK,
    b"\xd0\xcf\x11\xe0": WORKBOOK,
    b"\x1f\x8b": PACKED,
    b"<!doctype html": PAGE,
    b"<html": PAGE,
}
UNDECODED: Final = (
    "This is not a CSV file in UTF-8, UTF-16 or Windows-1252: save it as CSV in UTF-8."
)
# How a cell begins that a spreadsheet may run.
FORMULA: Final = re.compile(r"\s*[=+@＝＋＠－\t\r-]")
NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
AS_TEXT: Final = re.compile(r'="([^"]*)"')  # how programs keep Excel from changing a cell: ="007"


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Write rows, the first of them the head, as CSV, with an apostrophe before text that a
    spreadsheet would run as a formula. Encode it as utf-8-sig, for they know UTF-8 by its mark."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_safe, row) for row in rows)
    return text.getvalue()


def _safe(cell: object) -> object:
    runs = isinstance(cell, str) and FORMULA.match(cell) and not NUMBER.fullmatch(cell)
    return f"'{cell}" if runs else cell


@dataclass(frozen=True)
class Row:
    """A row by the names of its columns, and its place in the file, the head being row 1."""

    line: int
    cells: Mapping[str, str]

    def number(self, column: str, low: float, high: float) -> float:
        """Read the number in a column, whose decimal point may be a comma. Raises InputError for
        anything that is none from low to high."""
        text = self.cells[column]
        try:
            text = text.replace("\N{MINUS SIGN}", "-")  # as spreadsheets of the north write it
            value = float(text.replace(",", ".") if text.count(",") == 1 else text)
            if "_" in text:  # a number of Python's only
                raise ValueError
        except ValueError:
            value = float("nan")
        if not low <= value <= high:  # nor is NaN
            raise InputError(
                f"Row {self.line}: {column} is “{text[:20]}”, and no number from {low:g} to "
                f"{high:g}."
            )
        return value


@dataclass(frozen=True)
class Sheet:
    """A file that was read: its columns, and its rows one by one."""

    columns: tuple[str, ...]
    _places: tuple[int, ...]  # of the columns that have a name
    _text: str
    _dialect: Mapping[str, Any]

    def rows(self, short: bool = False) -> Iterator[Row]:
        """Read the rows; those without anything are passed over, and so are the space about a cell
        and the head where it comes again, as in files that were put together.

        short: whether a row may leave out its last cells, which are empty then. Raises InputError
        where one is not as long as the head, or a cell too long, or where there are too many.
        """
        head: list[str] = []
        count = 0
        for line, cells in _records(self._text, self._dialect):
            head = head or cells if any(cells) else head
            length = len(head)
            if cells == head or not any(cells):
                continue
            if short:
                cells += [""] * (length - len(cells))
            if any(cells[length:]) or len(cells) < length:
                raise InputError(
                    f"Row {line} has {len(cells)} cells, and the head {length}: text in which "
                    "there is a comma needs quotes."
                )
            if max(map(len, cells)) > MAX_LENGTH:
                raise InputError(f"Row {line} has a cell of more than {MAX_LENGTH:,} characters.")
            count += 1
            if count > MAX_ROWS:
                raise InputError(f"This file has more than {MAX_ROWS:,} rows.")
            named = (cells[place] for place in self._places)
            yield Row(line, dict(zip(self.columns, named, strict=True)))


def sheet(path: Path) -> Sheet:
    """Read a CSV file in UTF-8, UTF-16 or Windows-1252, parted by commas, semicolons or tabs, with
    quotes escaped by quotes or, as PHP does, by backslashes.

    Raises InputError where it is none, or too large.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        raise InputError(f"This file has more than {MAX_FILE_BYTES / 1e6:g} MB.")
    content = path.read_bytes()
    for mark, sentence in OTHER_FORMATS.items():
        if content[:20].lstrip().lower().startswith(mark.lower()):
            raise InputError(sentence)
    text = _decoded(content).rstrip("\x1a\0")  # the end of a file to DOS
    if "\0" in text:
        raise InputError(NO_CSV)
    first = next((line for line in io.StringIO(text, newline="") if line.strip()), "")
    named = first.strip().removeprefix("sep=")
    if named != first.strip() and named in DELIMITERS:  # written for Excel
        text, delimiter = text.partition(first)[2], named or ","
    else:
        delimiter = max(DELIMITERS, key=first.count)
    dialect: dict[str, Any] = {"delimiter": delimiter, "strict": True}
    # Quotes may stand behind a space; and PHP escapes those in a text in a way of its own.
    others = ({"skipinitialspace": True}, {}, {"escapechar": "\\"})
    fitting = (dialect | other for other in others if _fits(text, dialect | other))
    dialect = next(fitting, dialect)
    head = next((cells for _, cells in _records(text, dialect) if any(cells)), [])
    if len(head) > MAX_COLUMNS:
        raise InputError(NO_CSV)
    places = tuple(place for place, name in enumerate(head) if name)
    columns = tuple(head[place] for place in places)
    if len(columns) < 2:
        raise InputError(NO_CSV)
    if twice := [name for name in columns if columns.count(name) > 1]:
        raise InputError(
            "This is not a CSV file whose columns have names of their own: two are called "
            f"“{twice[0][:40]}”. Rename one, or take it out."
        )
    return Sheet(columns, places, text, dialect)


def _decoded(content: bytes) -> str:
    """Decode by the mark a file begins with; without one it is UTF-8, else Windows-1252."""
    marked = next((MARKS[mark] for mark in MARKS if content.startswith(mark)), None)
    # Without a mark, every other byte of Western text in UTF-16 is zero.
    sample = content[:1000]
    if marked is None and sample.count(0) > len(sample) / 3:
        marked = "utf-16-le" if sample[1::2].count(0) > sample[::2].count(0) else "utf-16-be"
    for encoding in [marked] if marked else ["utf-8", "cp1252"]:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError(UNDECODED)


def _fits(text: str, dialect: Mapping[str, Any]) -> bool:
    """Whether a text is a table in this dialect."""
    length = 0
    try:
        for _, cells in _records(text, dialect):
            length = length or len(cells)
            if any(cells) and (len(cells) < length or any(cells[length:])):
                return False
    except InputError:
        return False
    return True


def _clean(cell: str) -> str:
    cell = composed(cell.strip(BLANK))
    match = AS_TEXT.fullmatch(cell)
    return match[1].strip(BLANK) if match else cell


def _records(text: str, dialect: Mapping[str, Any]) -> Iterator[tuple[int, list[str]]]:
    """Read the number of each row and its cells in NFC, without the space about them, or the
    formula that keeps them text."""
    seen = 0
    try:
        for line, cells in enumerate(csv.reader(io.StringIO(text, newline=""), **dialect), 1):
            seen += len(cells)
            if seen > MAX_CELLS:
                raise InputError(f"This file has more than {MAX_CELLS:,} cells.")
            yield line, [_clean(cell) for cell in cells]
    except csv.Error as error:
        raise InputError(NO_CSV) from error
