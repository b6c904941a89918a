"""Results of the P.808 toolkit (Naderi and Cutler 2020): answers as a platform hands them out, or
the toolkit's votes per worker. Of ACR, DCR, CCR, and one scale of P.835."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from earshot.core.errors import InputError
from earshot.media.text.table import Row, Sheet
from earshot.study.design import REFERENCE, Design
from earshot.study.design.designs import ACR, CCR, DCR
from earshot.study.design.model import Kind
from earshot.study.imports.ratings import Names, Rating, check_id

SOURCE: Final = "the P.808 toolkit"
VOTES: Final = ("workerid", "file", "vote")
SCALES: Final = ("ovrl", "sig", "bak")  # of P.835: overall, speech signal, background noise
# By the toolkit's question_type, the design, and the scale where there are several.
TYPES: Final[dict[str, tuple[Design, str]]] = {
    "MOS": (ACR, ""),
    "DMOS": (DCR, ""),
    "CMOS": (CCR, ""),
    **{f"MOS_{scale.upper()}": (ACR, scale) for scale in SCALES},
}
RATED: Final = re.compile(r"answer\.(q\d+)_url")
SCALED: Final = re.compile(r"answer\.q\d+_ovrl")
PAIRED: Final = "answer.audio_n_finish_q_a"  # of DCR and CCR, whose questions have two clips
# Where the toolkit's configuration has the clips whose answer is known, and how far one may miss.
CHECKS: Final[tuple[tuple[str, float, Kind], ...]] = (
    ("input.tp", 0.0, "attention"),
    ("input.gold_clips", 1.0, "gold"),
)
# In DCR and CCR a reference against itself, and answers that the toolkit takes for right.
SAME: Final[dict[str, tuple[float, float]]] = {DCR.name: (5.0, 1.0), CCR.name: (0.0, 1.0)}
UNSCORED: Final = ("input.gold_url", "input.gold_url_2")  # clips whose answer is known in code only
# Possessive: a cell can be any text, of any length, and is read once.
QUERY: Final = re.compile(r"\?[^/=?]*+=.*|#t=.*", re.DOTALL)
GAPS: Final = ("{system}", "{stimulus}")
CLIPS: Final = "{system}/{stimulus}"
MAX_LENGTH: Final = 2000  # characters of a clip's address


def normal(column: str) -> str:
    """Name a column as the toolkit reads it."""
    return column.strip().lower().replace("_slide", "")


def is_p808(columns: Sequence[str]) -> bool:
    """Say whether a file with these columns is one that we can read."""
    names = {normal(name) for name in columns}
    rated = any(RATED.fullmatch(name) for name in names)
    return {*VOTES} <= names or ("workerid" in names and rated)


class Clips:
    """The pattern by which a clip's address names its system and stimulus: text ends as the address
    does, in which {system} and {stimulus} stand for anything within a folder.
    """

    def __init__(self, text: str = CLIPS) -> None:
        if any(text.count(gap) != 1 for gap in GAPS) or len(text) > MAX_LENGTH:
            raise InputError(f"Write what a clip is called with {' and '.join(GAPS)}: {CLIPS}.")
        whole = re.escape(text)
        for gap in GAPS:
            whole = whole.replace(re.escape(gap), f"(?P<{gap[1:-1]}>[^/]+?)")
        self.text, self._whole = text, re.compile(f"(?:.*/)?{whole}(?:\\.\\w+)?")

    def of(self, row: Row, address: str) -> tuple[str, str]:
        """Find system and stimulus."""
        found = self._whole.fullmatch(address) if len(address) <= MAX_LENGTH else None
        if found is None:
            raise InputError(f"Row {row.line}: “{address[:80]}” is not called like {self.text}.")
        return found["system"], found["stimulus"]


def address_of(cell: str) -> str:
    """Take what tells a clip from others: an address without what signs it (?sig=…, #t=2)."""
    return QUERY.sub("", cell)


def read(sheet: Sheet, clips: Clips, scale: str) -> tuple[str, Design, list[Rating]]:
    """Read what collected the ratings of a file, their design, and they. scale: which of P.835's.

    In CCR each system is compared with the reference. Trapping and gold clips become attention
    checks and gold trials.
    """
    names, rows = {normal(name) for name in sheet.columns}, sheet.rows()
    if {*VOTES} <= names:
        return _votes(rows, clips, scale)
    suffix = f"_{scale}" if any(SCALED.fullmatch(name) for name in names) else ""
    paired = any(name.startswith(PAIRED) for name in names)
    raters = Names()
    found = [
        each for row in rows for each in _of_answer(_normal(row), clips, raters, suffix, paired)
    ]
    design, found = _against_reference(found) if paired else (ACR, found)
    return _source(suffix[1:]), design, found


def _votes(rows: Iterable[Row], clips: Clips, scale: str) -> tuple[str, Design, list[Rating]]:
    found: dict[str, list[Rating]] = {}
    raters = Names()
    for row in map(_normal, rows):
        kind = row.cells.get("question_type", "MOS")
        if kind not in TYPES:
            raise InputError(f"Of the toolkit's votes, those of {', '.join(TYPES)} can be read.")
        design, system, stimulus = TYPES[kind][0], *clips.of(row, address_of(row.cells["file"]))
        (low, high), other = design.ends, REFERENCE if design.paired else ""
        check_id(row, "workerid")
        rater, vote = raters.of(row.cells["workerid"]), row.number("vote", low, high)
        found.setdefault(kind, []).append(
            Rating(rater, stimulus, system, vote, other, line=row.line)
        )
    kinds = [kind for kind in found if TYPES[kind][1] in ("", scale)]
    if len(kinds) != 1:
        known = ", ".join(found) or "nothing"
        raise InputError(f"This file has votes of {known}. Keep those of one method in it.")
    design, scale = TYPES[kinds[0]]
    return _source(scale), design, found[kinds[0]]


def _source(scale: str) -> str:
    return f"{SOURCE} (P.835, {scale.upper()})" if scale else SOURCE


def _against_reference(found: list[Rating]) -> tuple[Design, list[Rating]]:
    """Tell ratings of DCR from those of CCR by their scales."""
    answers = [each.answer for each in found]
    design = CCR if answers and min(answers) < 1 else DCR
    if design is CCR and max(answers) > 3:
        raise InputError("Answers are from −3 to 3 (CCR) or from 1 to 5 (DCR), and here are both.")
    expected, tolerance = SAME[design.name]
    other = REFERENCE if design.paired else ""
    return design, [
        replace(each, other=other)
        if each.kind == "trial"
        else replace(each, other=other, expected=expected, tolerance=tolerance)
        for each in found
    ]


def _normal(row: Row) -> Row:
    return Row(row.line, {normal(name): cell for name, cell in row.cells.items()})


def _of_answer(
    row: Row, clips: Clips, raters: Names, suffix: str, paired: bool
) -> Iterator[Rating]:
    """Read the ratings of one submission. suffix: of the scale; paired: whether of DCR or CCR."""
    check_id(row, "workerid")
    cells, rater = row.cells, raters.of(row.cells["workerid"])
    if cells.get("assignmentstatus", "").lower() == "rejected":
        return
    unscored = [address_of(cells.get(column, "")) for column in UNSCORED]
    for column, cell in cells.items():
        question, address = RATED.fullmatch(column), address_of(cell)
        if question is None or not address or address in unscored:
            continue
        check = next(
            (each for each in CHECKS if address == address_of(cells.get(each[0], ""))), None
        )
        # In P.835 a check asks for a number of all scales, and the toolkit looks at the overall.
        asked = f"answer.{question[1]}{'_ovrl' if suffix and check else suffix}"
        if not cells.get(asked):
            continue
        answer = row.number(asked, -3 if paired else 1, 5)
        if check is None:
            system, stimulus = clips.of(row, address)
            yield Rating(rater, stimulus, system, answer, line=row.line)
        elif paired or f"{check[0]}_ans" in cells:
            where, tolerance, kind = check
            expected = None if paired else row.number(f"{where}_ans", 1, 5)
            name = address.rsplit("/", 1)[-1]
            yield Rating(rater, name, name, answer, "", 0, kind, expected, tolerance, row.line)
