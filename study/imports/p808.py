"""Results of the P.808 toolkit (Naderi and Cutler 2020): answers as a platform hands them out, or
the toolkit's votes per worker."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from media.errors import InputError
from study.design import Design
from study.design.model import Kind
from study.imports.ratings import Names, Rating
from study.imports.rows import Row

VOTES: Final = ("workerid", "file", "vote")
DESIGNS: Final[dict[str, Design]] = {"MOS": "acr", "DMOS": "dcr"}
RATED: Final = re.compile(r"answer\.(q\d+)_url")
# Where the toolkit's configuration has the clips whose answer is known, and how far one may miss.
CHECKS: Final[tuple[tuple[str, float, Kind], ...]] = (
    ("input.tp", 0.0, "attention"),
    ("input.gold_clips", 1.0, "gold"),
)
GAPS: Final = ("{system}", "{stimulus}")
CLIPS: Final = "{system}/{stimulus}"
LONGEST: Final = 2000  # characters of a clip's address


def normal(column: str) -> str:
    """The name of a column as the toolkit reads it."""
    return column.strip().lower().replace("_slide", "")


def is_p808(columns: Sequence[str]) -> bool:
    """Whether a file with these columns is one that we can read."""
    names = {normal(name) for name in columns}
    rated = any(RATED.fullmatch(name) for name in names)
    return {*VOTES} <= names or ("workerid" in names and rated)


class Clips:
    """Which system and which stimulus a clip is, by its address: text ends as the address does, in
    which {system} and {stimulus} stand for anything within a folder."""

    def __init__(self, text: str = CLIPS) -> None:
        if any(text.count(gap) != 1 for gap in GAPS) or len(text) > LONGEST:
            raise InputError(f"Write what a clip is called with {' and '.join(GAPS)}: {CLIPS}.")
        whole = re.escape(text)
        for gap in GAPS:
            whole = whole.replace(re.escape(gap), f"(?P<{gap[1:-1]}>[^/]+?)")
        self.text, self._whole = text, re.compile(f"(?:.*/)?{whole}(?:\\.\\w+)?")

    def of(self, row: Row, address: str) -> tuple[str, str]:
        """System and stimulus."""
        found = self._whole.fullmatch(address) if len(address) <= LONGEST else None
        if found is None:
            raise InputError(f"Row {row.line}: “{address[:80]}” is not called like {self.text}.")
        return found["system"], found["stimulus"]


def read(columns: Sequence[str], rows: Iterable[Row], clips: Clips) -> tuple[Design, list[Rating]]:
    """The ratings of a file: acr, or dcr in votes whose question_type says so. Trapping and gold
    clips become attention checks and gold trials."""
    if not {*VOTES} <= {normal(name) for name in columns}:
        names = Names()
        return "acr", [each for row in rows for each in _of_answer(_normal(row), clips, names)]
    found, types, names = [], set(), Names()
    for row in map(_normal, rows):
        types.add(row.cells.get("question_type", "MOS"))
        system, stimulus = clips.of(row, row.cells["file"])
        rater = names.of(row.cells["workerid"])
        found.append(Rating(rater, stimulus, system, row.number("vote", 1, 5)))
    if not types <= {*DESIGNS} or len(types) > 1:
        raise InputError(f"Of the toolkit's votes, those of {' or '.join(DESIGNS)} can be read.")
    return DESIGNS[types.pop() if types else "MOS"], found


def _normal(row: Row) -> Row:
    return Row(row.line, {normal(name): cell for name, cell in row.cells.items()})


def _of_answer(row: Row, clips: Clips, names: Names) -> Iterator[Rating]:
    """The ratings of one submission."""
    cells, rater = row.cells, names.of(row.cells["workerid"])
    if cells.get("assignmentstatus", "").lower() == "rejected":
        return
    for column in cells:
        question = RATED.fullmatch(column)
        if question is None or not cells[column] or not cells.get(f"answer.{question[1]}"):
            continue
        answer, address = row.number(f"answer.{question[1]}", 1, 5), cells[column]
        for where, tolerance, kind in CHECKS:
            if address == cells.get(where):
                expected = row.number(f"{where}_ans", 1, 5)
                name = address.rsplit("/", 1)[-1]
                yield Rating(rater, name, name, answer, "", 0, kind, expected, tolerance)
                break
        else:
            system, stimulus = clips.of(row, address)
            yield Rating(rater, stimulus, system, answer)
