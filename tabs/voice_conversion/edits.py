"""What a visitor can do to a sequence of units: each edit makes a new array of codes (U,).

`chosen` holds the indices of the chosen cells, which must lie in the sequence: InputError if not.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from media.errors import InputError
from tabs.components.timeline.lanes import MUTED

LONGEST: Final = 60.0  # seconds, as for recordings


def mute(codes: np.ndarray, chosen: Sequence[int]) -> np.ndarray:
    """The chosen units fall silent and keep their time."""
    return replace(codes, chosen, MUTED)


def delete(codes: np.ndarray, chosen: Sequence[int]) -> np.ndarray:
    """The chosen units go, and what follows moves up."""
    kept = np.delete(codes, _indices(codes, chosen))
    if not len(kept):
        raise InputError("At least one unit must stay.")
    return kept


def repeat(codes: np.ndarray, chosen: Sequence[int], step: float) -> np.ndarray:
    """Each stretch of neighbouring chosen units is said once more. step: seconds a unit."""
    indices = _indices(codes, chosen)
    stretches = np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1)
    if (len(codes) + len(indices)) * step > LONGEST:
        raise InputError(f"That would last longer than {LONGEST:g} s. Delete something first.")
    for stretch in reversed(stretches):
        codes = np.insert(codes, stretch[-1] + 1, codes[stretch])
    return codes


def replace(codes: np.ndarray, chosen: Sequence[int], unit: int) -> np.ndarray:
    """The chosen units become `unit`."""
    codes = codes.copy()
    codes[_indices(codes, chosen)] = unit
    return codes


def _indices(codes: np.ndarray, chosen: Sequence[int]) -> np.ndarray:
    """The chosen indices, sorted. They come from a browser, and can be anything."""
    whole = isinstance(chosen, Sequence) and all(type(index) is int for index in chosen)
    if not whole or not chosen or min(chosen) < 0 or max(chosen) >= len(codes):
        raise InputError("Choose one or more units first.")
    return np.unique(chosen)
