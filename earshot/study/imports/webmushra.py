"""Results of webMUSHRA (Schoeffler et al. 2018), as its write.php or pymushra write them."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from earshot.core.errors import InputError
from earshot.media.text.table import Row, Sheet
from earshot.study.design import REFERENCE, Design
from earshot.study.design.designs import ABX, ACR
from earshot.study.design.designs import MUSHRA as SLIDERS
from earshot.study.imports.ratings import Names, Rating, check_id

TITLE: Final = "session_test_id"
ITEM: Final = "trial_id"
UUID: Final = "session_uuid"
# What only the file of one kind of page has.
MUSHRA: Final = ("rating_stimulus", "rating_score", "rating_time")
PAIRED: Final = ("choice_reference", "choice_non_reference", "choice_answer", "choice_time")
LIKERT: Final = ("stimuli_rating", "stimuli", "rating_time")
# Columns of pymushra, whose rows of other kinds of pages have nothing in those of one.
PYMUSHRA: Final = {
    "questionaire_uuid": UUID,
    "wm_id": ITEM,
    "responses_stimulus": MUSHRA[0],
    "responses_score": MUSHRA[1],
    "responses_time": MUSHRA[2],
}
CONDITIONS: Final = {"anchor35": "anchor-3.5k", "anchor70": "anchor-7k", "reference": REFERENCE}
RATED: Final = {ABX.name: PAIRED[1], SLIDERS.name: MUSHRA[0]}  # the column that names the sound
UNDECIDED: Final = 0.5
ANSWERS: Final = {"correct": 1.0, "incorrect": 0.0, "undecided": UNDECIDED}
MAX_TIME: Final = 1e9  # ms


def is_webmushra(columns: Sequence[str]) -> bool:
    """Say whether a file with these columns is one that we can read."""
    if _of_pymushra(columns):
        return True
    return {TITLE, ITEM} <= {*columns} and any(
        {*own} <= {*columns} for own in (MUSHRA, PAIRED, LIKERT)
    )


def read(sheet: Sheet) -> tuple[Design, list[Rating], list[str]]:
    """Read the ratings of a file: mushra; of paired_comparison, where raters said which of two is
    the reference, abx; of Likert scales from 1 to 5, acr. With what a reader must be told.

    What the participant said about themselves (or the session's number, where there is one) tells
    raters apart; without a number, who rates the same again is taken for the next one who said the
    same. An undecided answer of a paired comparison is half a right one.
    """
    columns, rows = sheet.columns, sheet.rows()
    if _of_pymushra(columns):
        columns = tuple(PYMUSHRA.get(name, name) for name in columns)
        rows = (
            Row(row.line, dict(zip(columns, row.cells.values(), strict=True)))
            for row in rows
            if row.cells["responses_stimulus"]
        )
    numbered = UUID in columns
    about = [UUID] if numbered else columns[1 : columns.index(ITEM)]
    names, again = Names(), Counter[tuple[str, ...]]()
    design = SLIDERS if {*MUSHRA} <= {*columns} else ACR
    design = ABX if {*PAIRED} <= {*columns} else design
    found: list[Rating] = []
    for row in rows:
        cells = row.cells
        said = tuple(cells[name] for name in about)
        if numbered:
            check_id(row, UUID)
        what = [cells[name] for name in (*PAIRED[:2], *LIKERT[1:2], *MUSHRA[:1]) if name in cells]
        again[(*said, cells[ITEM], *what)] += not numbered
        rater = names.of("\n".join((*said, str(again[(*said, cells[ITEM], *what)]))))
        system, other = cells[RATED.get(design.name, LIKERT[1])], ""
        if design is ABX:
            if cells["choice_answer"] not in ANSWERS:
                continue  # the page was left without an answer
            time = row.number("choice_time", 0, MAX_TIME)
            answer, other = ANSWERS[cells["choice_answer"]], REFERENCE
        else:
            time = row.number("rating_time", 0, MAX_TIME)
            if design is SLIDERS:
                system, answer = CONDITIONS.get(system, system), row.number("rating_score", 0, 100)
            else:
                answer = row.number("stimuli_rating", 1, 5)
        if not system:
            raise InputError(f"Row {row.line} names no stimulus.")
        found.append(Rating(rater, cells[ITEM], system, answer, other, time, line=row.line))
    notes = []
    if undecided := sum(each.answer == UNDECIDED for each in found if design is ABX):
        notes.append(
            f"{undecided} of {len(found)} answers were “undecided”: each counts as half right."
        )
    return design, found, notes


def _of_pymushra(columns: Sequence[str]) -> bool:
    return {*PYMUSHRA} <= {*columns}
