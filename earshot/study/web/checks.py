"""Checks of a rater's request before it is answered."""

import math
import re
from typing import Final

from fastapi import HTTPException

from earshot.study import invitations, preview
from earshot.study.design import Item
from earshot.study.design.model import UNDRAWN
from earshot.study.library import Opened
from earshot.study.storage.panel import is_gap
from earshot.study.storage.raters import SIMULATED, Rater

# Ours, or the organiser's, who may take the numbers of a panel; too long to be guessed.
TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{16,128}")
WRONG_TOKEN: Final = "This link is not complete. Copy it once more, or ask whoever sent it to you."
NO_SOUND: Final = "There is no such sound."
HEARD: Final = 1.0  # seconds of each sound in MUSHRA, as in player.js


def checked(token: str) -> str:
    """Check that a token can be a rater's. Raises HTTPException (404) where it cannot."""
    if not TOKEN.fullmatch(token) or token.startswith(SIMULATED) or is_gap(token):
        raise HTTPException(404, WRONG_TOKEN)
    return token


def check_invitation(opened: Opened, token: str | None) -> None:
    """Refuse a rater who was not invited to a test that is for those who were, its organiser
    apart.
    """
    known = preview.is_preview(opened.key, token) or invitations.is_invited(opened.key, token)
    if opened.test.invited and not known:
        raise HTTPException(403, invitations.NEEDED)


def item_at(rater: Rater, order: int) -> Item:
    """Find what the rater is asked at that place. Raises HTTPException (404) where that is
    nothing.
    """
    found = next((item for item in rater.items if item.order == order), None)
    if found is None or found.trial == UNDRAWN:
        raise HTTPException(404, NO_SOUND)
    return found


def min_seconds(opened: Opened, rater: Rater, order: int) -> float:
    """Compute how long the page plays before it takes an answer: each sound once to its end, in
    MUSHRA a second of each. 0 where there is no such trial.
    """
    item = next((item for item in rater.items if item.order == order), None)
    if item is None or item.trial == UNDRAWN:
        return 0.0
    longest = HEARD if opened.test.design.together else math.inf
    return sum(min(copy.seconds, longest) for copy in opened.sounds(item))
