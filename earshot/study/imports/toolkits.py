"""Ratings that were collected elsewhere: CSV files of webMUSHRA (Schoeffler et al. 2018), as its
write.php or pymushra write them, and of the P.808 toolkit (Naderi and Cutler 2020): answers as a
platform hands them out, or the toolkit's votes per worker, of ACR, DCR, CCR and one scale of P.835.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError
from earshot.media.text.table import Row, Sheet, sheet
from earshot.study.design import REFERENCE, Design
from earshot.study.design.designs import ABX, ACR, CCR, DCR, MUSHRA
from earshot.study.design.model import Kind
from earshot.study.imports.ratings import Imported, Names, Rating, check_id, imported

UNKNOWN: Final = (
    "The columns of this file are neither webMUSHRA's (trial_id, rating_stimulus, rating_score …) "
    "nor those of the P.808 toolkit (WorkerId, Answer.q0_url … or workerid, file, vote)."
)

P808: Final = "the P.808 toolkit"
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
MAX_ADDRESS: Final = 2000  # characters of a clip's address

TITLE: Final = "session_test_id"
SEVERAL: Final = (
    "This file has ratings of several tests (session_test_id: {tests}): keep the rows of one in it."
)
MAX_TESTS: Final = 5  # that a message names
ITEM: Final = "trial_id"
UUID: Final = "session_uuid"
# What only the file of one kind of page has.
SLIDERS: Final = ("rating_stimulus", "rating_score", "rating_time")
PAIR: Final = ("choice_reference", "choice_non_reference", "choice_answer", "choice_time")
LIKERT: Final = ("stimuli_rating", "stimuli", "rating_time")
# Columns of pymushra, whose rows of other kinds of pages have nothing in those of one.
PYMUSHRA: Final = {
    "questionaire_uuid": UUID,
    "wm_id": ITEM,
    "responses_stimulus": SLIDERS[0],
    "responses_score": SLIDERS[1],
    "responses_time": SLIDERS[2],
}
CONDITIONS: Final = {"anchor35": "anchor-3.5k", "anchor70": "anchor-7k", "reference": REFERENCE}
RATED_COLUMN: Final = {
    ABX.name: PAIR[1],
    MUSHRA.name: SLIDERS[0],
}  # the column that names the sound
UNDECIDED: Final = 0.5
ANSWERS: Final = {"correct": 1.0, "incorrect": 0.0, "undecided": UNDECIDED}
MAX_MILLISECONDS: Final = 1e9


def read_ratings(path: Path, clips: str = CLIPS, scale: str = SCALES[0]) -> Imported:
    """Read the ratings of a CSV of webMUSHRA or of the P.808 toolkit. Of the latter, clips: which
    part of the address of a clip is its system, and which its stimulus; scale: which of P.835's.

    Raises InputError with what is wrong, and in which row.
    """
    table, notes = sheet(path), []
    if is_webmushra(table.columns):
        source, (design, ratings, notes) = "webMUSHRA", _read_webmushra(table)
    elif is_p808(table.columns):
        source, design, ratings = _read_p808(table, Clips(clips), scale)
    else:
        raise InputError(UNKNOWN)
    name = re.sub(r"[^A-Za-z0-9]+", "-", path.stem).strip("-")[:60] or "ratings"
    return imported(name, path.stem[:100], source, design, ratings, notes)


def normal(column: str) -> str:
    """Return the name of a column as the toolkit reads it."""
    return column.strip().lower().replace("_slide", "")


def is_p808(columns: Sequence[str]) -> bool:
    """Whether a file with these columns is one of the toolkit's that we can read."""
    names = {normal(name) for name in columns}
    rated = any(RATED.fullmatch(name) for name in names)
    return {*VOTES} <= names or ("workerid" in names and rated)


class Clips:
    """The pattern by which a clip's address names its system and stimulus: text ends as the address
    does, in which {system} and {stimulus} stand for anything within a folder.
    """

    def __init__(self, text: str = CLIPS) -> None:
        if any(text.count(gap) != 1 for gap in GAPS) or len(text) > MAX_ADDRESS:
            raise InputError(f"Write what a clip is called with {' and '.join(GAPS)}: {CLIPS}.")
        whole = re.escape(text)
        for gap in GAPS:
            whole = whole.replace(re.escape(gap), f"(?P<{gap[1:-1]}>[^/]+?)")
        self.text, self._whole = text, re.compile(f"(?:.*/)?{whole}(?:\\.\\w+)?")

    def of(self, row: Row, address: str) -> tuple[str, str]:
        """Return the system and the stimulus of a row's clip."""
        match = self._whole.fullmatch(address) if len(address) <= MAX_ADDRESS else None
        if match is None:
            raise InputError(f"Row {row.line}: “{address[:80]}” is not called like {self.text}.")
        return match["system"], match["stimulus"]


def address_of(cell: str) -> str:
    """Return what tells a clip from others: an address without what signs it (?sig=…, #t=2)."""
    return QUERY.sub("", cell)


def _read_p808(sheet: Sheet, clips: Clips, scale: str) -> tuple[str, Design, list[Rating]]:
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
    ratings = [
        each for row in rows for each in _of_answer(_normal(row), clips, raters, suffix, paired)
    ]
    design, ratings = _against_reference(ratings) if paired else (ACR, ratings)
    return _source(suffix[1:]), design, ratings


def _votes(rows: Iterable[Row], clips: Clips, scale: str) -> tuple[str, Design, list[Rating]]:
    ratings: dict[str, list[Rating]] = {}
    raters = Names()
    for row in map(_normal, rows):
        kind = row.cells.get("question_type", "MOS")
        if kind not in TYPES:
            raise InputError(f"Of the toolkit's votes, those of {', '.join(TYPES)} can be read.")
        design, system, stimulus = TYPES[kind][0], *clips.of(row, address_of(row.cells["file"]))
        (low, high), other = design.ends, REFERENCE if design.paired else ""
        check_id(row, "workerid")
        rater, vote = raters.of(row.cells["workerid"]), row.number("vote", low, high)
        ratings.setdefault(kind, []).append(
            Rating(rater, stimulus, system, vote, other, line=row.line)
        )
    kinds = [kind for kind in ratings if TYPES[kind][1] in ("", scale)]
    if len(kinds) != 1:
        methods = ", ".join(ratings) or "nothing"
        raise InputError(f"This file has votes of {methods}. Keep those of one method in it.")
    design, scale = TYPES[kinds[0]]
    return _source(scale), design, ratings[kinds[0]]


def _source(scale: str) -> str:
    return f"{P808} (P.835, {scale.upper()})" if scale else P808


def _against_reference(ratings: list[Rating]) -> tuple[Design, list[Rating]]:
    """Return the design, DCR or CCR by the scale of the answers, and its ratings."""
    answers = [each.answer for each in ratings]
    design = CCR if answers and min(answers) < 1 else DCR
    if design is CCR and max(answers) > 3:
        raise InputError("Answers are from −3 to 3 (CCR) or from 1 to 5 (DCR), and here are both.")
    expected, tolerance = SAME[design.name]
    other = REFERENCE if design.paired else ""
    return design, [
        replace(each, other=other)
        if each.kind == "trial"
        else replace(each, other=other, expected=expected, tolerance=tolerance)
        for each in ratings
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
        field = f"answer.{question[1]}{'_ovrl' if suffix and check else suffix}"
        if not cells.get(field):
            continue
        answer = row.number(field, -3 if paired else 1, 5)
        if check is None:
            system, stimulus = clips.of(row, address)
            yield Rating(rater, stimulus, system, answer, line=row.line)
        elif paired or f"{check[0]}_ans" in cells:
            where, tolerance, kind = check
            expected = None if paired else row.number(f"{where}_ans", 1, 5)
            name = address.rsplit("/", 1)[-1]
            yield Rating(rater, name, name, answer, "", 0, kind, expected, tolerance, row.line)


def is_webmushra(columns: Sequence[str]) -> bool:
    """Whether a file with these columns is one of webMUSHRA's that we can read."""
    if _of_pymushra(columns):
        return True
    return {TITLE, ITEM} <= {*columns} and any(
        {*own} <= {*columns} for own in (SLIDERS, PAIR, LIKERT)
    )


def _read_webmushra(sheet: Sheet) -> tuple[Design, list[Rating], list[str]]:
    """Read the ratings of a file: mushra; of paired_comparison, where raters said which of two is
    the reference, abx; of Likert scales from 1 to 5, acr. With what a reader must be told.

    What the participant wrote about themselves (or the session's number, where there is one) tells
    raters apart; without a number, who rates the same again is taken for the next one who wrote
    the same. An undecided answer of a paired comparison is half a right one.
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
    names, again, tests = Names(), Counter[tuple[str, ...]](), dict[str, None]()
    design = MUSHRA if {*SLIDERS} <= {*columns} else ACR
    design = ABX if {*PAIR} <= {*columns} else design
    ratings: list[Rating] = []
    for row in rows:
        cells = row.cells
        tests[cells.get(TITLE, "")] = None
        person = tuple(cells[name] for name in about)
        if numbered:
            check_id(row, UUID)
        what = [cells[name] for name in (*PAIR[:2], *LIKERT[1:2], *SLIDERS[:1]) if name in cells]
        again[(*person, cells[ITEM], *what)] += not numbered
        rater = names.of("\n".join((*person, str(again[(*person, cells[ITEM], *what)]))))
        system, other = cells[RATED_COLUMN.get(design.name, LIKERT[1])], ""
        if design is ABX:
            if cells["choice_answer"] not in ANSWERS:
                continue  # the page was left without an answer
            time = row.number("choice_time", 0, MAX_MILLISECONDS)
            answer, other = ANSWERS[cells["choice_answer"]], REFERENCE
        else:
            time = row.number("rating_time", 0, MAX_MILLISECONDS)
            if design is MUSHRA:
                system, answer = CONDITIONS.get(system, system), row.number("rating_score", 0, 100)
            else:
                answer = row.number("stimuli_rating", 1, 5)
        if not system:
            raise InputError(f"Row {row.line} names no stimulus.")
        ratings.append(Rating(rater, cells[ITEM], system, answer, other, time, line=row.line))
    if len(tests) > 1:  # whose trials and raters may be called alike
        raise InputError(SEVERAL.format(tests=", ".join(list(tests)[:MAX_TESTS])))
    notes = []
    if undecided := sum(each.answer == UNDECIDED for each in ratings if design is ABX):
        notes.append(
            f"{undecided} of {len(ratings)} answers were “undecided”: each counts as half right."
        )
    return design, ratings, notes


def _of_pymushra(columns: Sequence[str]) -> bool:
    return {*PYMUSHRA} <= {*columns}
