"""CSV files as others wrote them, which may be anything at all."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError

MAX_BYTES: Final = 20_000_000
MAX_COLUMNS: Final = 1000
MAX_CELLS: Final = 5_000_000
LONGEST: Final = 10_000  # characters of a cell
NO_CSV: Final = "This is not a CSV file: a table of text in UTF-8, with a head."


@dataclass(frozen=True)
class Row:
    """A row by the names of its columns, and its place in the file, the head being row 1."""

    line: int
    cells: Mapping[str, str]

    def number(self, column: str, low: float, high: float) -> float:
        """The number in a column. Raises InputError for anything that is none from low to high."""
        try:
            value = float(self.cells[column])
        except ValueError:
            value = float("nan")
        if not low <= value <= high:  # nor is NaN
            found = self.cells[column][:20]
            raise InputError(
                f"Row {self.line}: {column} is “{found}”, and no number from {low:g} to {high:g}."
            )
        return value


def columns(path: Path) -> list[str]:
    """The names of a file's columns. Raises InputError where it has none, or too many."""
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"This file has more than {MAX_BYTES / 1e6:g} MB.")
    with open(path, encoding="utf-8-sig", newline="") as file:
        head = next(_cells(file), None)
    if not head or len(head) < 2 or len(head) > MAX_COLUMNS or len({*head}) < len(head):
        raise InputError(NO_CSV)
    return head


def rows(path: Path) -> Iterator[Row]:
    """The rows of a file, one by one; those without anything are passed over.

    Raises InputError where one is not as long as the head, a cell too long, or the file no CSV.
    """
    head, seen = columns(path), 0
    with open(path, encoding="utf-8-sig", newline="") as file:
        for line, cells in enumerate(_cells(file), 1):
            seen += len(cells)
            if seen > MAX_CELLS:
                raise InputError(f"This file has more than {MAX_CELLS:,} cells.")
            if line == 1 or not any(cells):
                continue
            if len(cells) != len(head):
                raise InputError(f"Row {line} has {len(cells)} cells, and the head {len(head)}.")
            if max(map(len, cells)) > LONGEST:
                raise InputError(f"Row {line} has a cell of more than {LONGEST:,} characters.")
            yield Row(line, dict(zip(head, cells, strict=True)))


def _cells(file: Iterator[str]) -> Iterator[list[str]]:
    try:
        yield from csv.reader(file, strict=True)
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(NO_CSV) from error
