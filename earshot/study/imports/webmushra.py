"""Results of webMUSHRA (Schoeffler et al. 2018), as its service/write.php writes them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from earshot.core.errors import InputError
from earshot.study.design import REFERENCE, Design
from earshot.study.imports.ratings import Names, Rating
from earshot.study.imports.rows import Row

TITLE: Final = "session_test_id"
ITEM: Final = "trial_id"
UUID: Final = "session_uuid"
# What only the file of one kind of page has.
MUSHRA: Final = ("rating_stimulus", "rating_score", "rating_time")
PAIRED: Final = ("choice_reference", "choice_non_reference", "choice_answer", "choice_time")
LIKERT: Final = ("stimuli_rating", "stimuli", "rating_time")
CONDITIONS: Final = {"anchor35": "anchor-3.5k", "anchor70": "anchor-7k", "reference": REFERENCE}
ANSWERS: Final = {"correct": 1.0, "incorrect": 0.0}  # else undecided, or none
LONGEST: Final = 1e9  # ms


def is_webmushra(columns: Sequence[str]) -> bool:
    """Whether a file with these columns is one that we can read."""
    return {TITLE, ITEM} <= {*columns} and any(
        {*own} <= {*columns} for own in (MUSHRA, PAIRED, LIKERT)
    )


def read(columns: Sequence[str], rows: Iterable[Row]) -> tuple[Design, list[Rating]]:
    """The ratings of a file: mushra; of paired_comparison, where raters said which of two is the
    reference, abx; of Likert scales from 1 to 5, acr.

    What the participant said about themselves (or the session's number, where there is one) tells
    raters apart; who rates the same again is taken for the next one who said the same.
    """
    about = [UUID] if UUID in columns else columns[1 : columns.index(ITEM)]
    names, again = Names(), Counter[tuple[str, ...]]()
    design: Design = "mushra" if {*MUSHRA} <= {*columns} else "acr"
    design = "abx" if {*PAIRED} <= {*columns} else design
    found = []
    for row in rows:
        cells = row.cells
        said = tuple(cells[name] for name in about)
        what = [cells[name] for name in (*PAIRED[:2], *LIKERT[1:2], *MUSHRA[:1]) if name in cells]
        again[(*said, cells[ITEM], *what)] += 1
        rater = names.of("\n".join((*said, str(again[(*said, cells[ITEM], *what)]))))
        if design == "abx":
            if cells["choice_answer"] not in ANSWERS:
                continue
            time = row.number("choice_time", 0, LONGEST)
            one, other = cells["choice_non_reference"], REFERENCE
            answer = ANSWERS[cells["choice_answer"]]
            found.append(Rating(rater, cells[ITEM], one, answer, other, time))
        else:
            time = row.number("rating_time", 0, LONGEST)
            if design == "mushra":
                system = CONDITIONS.get(cells["rating_stimulus"], cells["rating_stimulus"])
                answer = row.number("rating_score", 0, 100)
            else:
                system, answer = cells["stimuli"], row.number("stimuli_rating", 1, 5)
            found.append(Rating(rater, cells[ITEM], system, answer, "", time))
        if not found[-1].system:
            raise InputError(f"Row {row.line} names no stimulus.")
    return design, found
