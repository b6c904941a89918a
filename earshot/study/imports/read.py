"""Read ratings of any kind that we know."""

import re
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError
from earshot.media.text.table import sheet
from earshot.study.imports import p808, webmushra
from earshot.study.imports.ratings import Imported, imported

UNKNOWN: Final = (
    "The columns of this file are neither webMUSHRA's (trial_id, rating_stimulus, rating_score …) "
    "nor those of the P.808 toolkit (WorkerId, Answer.q0_url … or workerid, file, vote)."
)


def read(path: Path, clips: str = p808.CLIPS, scale: str = p808.SCALES[0]) -> Imported:
    """Read the ratings of a CSV of webMUSHRA or of the P.808 toolkit. Of the latter, clips: which
    part of the address of a clip is its system, and which its stimulus; scale: which of P.835's.

    Raises InputError with what is wrong, and in which row.
    """
    table, notes = sheet(path), []
    if webmushra.is_webmushra(table.columns):
        source, (design, ratings, notes) = "webMUSHRA", webmushra.read(table)
    elif p808.is_p808(table.columns):
        source, design, ratings = p808.read(table, p808.Clips(clips), scale)
    else:
        raise InputError(UNKNOWN)
    name = re.sub(r"[^A-Za-z0-9]+", "-", path.stem).strip("-")[:60] or "ratings"
    return imported(name, path.stem[:100], source, design, ratings, notes)
