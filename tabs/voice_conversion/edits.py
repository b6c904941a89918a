"""Edits of a sequence of units, as pure functions of its codes (U,).

`chosen` holds the indices of the selected cells. They come from a browser: InputError unless all
lie in the sequence.
"""

from collections.abc import Sequence

import numpy as np

from media.errors import InputError
from pipelines.voice_conversion.settings import MAX_SECONDS, MUTED


def apply(
    action: object,
    codes: np.ndarray,
    chosen: Sequence[int],
    *,
    unit: object,
    codebook_size: int,
    step: float,
) -> np.ndarray:
    """The codes after the edit named `action`.

    unit: what "replace" puts in; step: duration of a unit in seconds. Raises InputError for an
    action that does not exist and for arguments that it cannot take.
    """
    match action:
        case "mute":
            return mute(codes, chosen)
        case "delete":
            return delete(codes, chosen)
        case "repeat":
            return repeat(codes, chosen, step)
        case "replace":
            if not isinstance(unit, int) or not 0 <= unit < codebook_size:
                raise InputError(f"Units are numbered from 0 to {codebook_size - 1}.")
            return replace(codes, chosen, unit)
    raise InputError("There is no such edit. Use Mute, Delete, Repeat, Replace by or Undo.")


def mute(codes: np.ndarray, chosen: Sequence[int]) -> np.ndarray:
    """Replace the chosen units by silence of the same duration."""
    return replace(codes, chosen, MUTED)


def delete(codes: np.ndarray, chosen: Sequence[int]) -> np.ndarray:
    """Remove the chosen units; later ones move up. Raises InputError if none would remain."""
    remaining = np.delete(codes, _indices(codes, chosen))
    if not len(remaining):
        raise InputError("At least one unit must stay.")
    return remaining


def repeat(codes: np.ndarray, chosen: Sequence[int], step: float) -> np.ndarray:
    """Insert a copy of each contiguous run of chosen units after it. step: seconds a unit.

    Raises InputError if the result were longer than MAX_SECONDS.
    """
    indices = _indices(codes, chosen)
    runs = np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1)
    if (len(codes) + len(indices)) * step > MAX_SECONDS:
        raise InputError(f"That would last longer than {MAX_SECONDS:g} s. Delete something first.")
    for run in reversed(runs):
        codes = np.insert(codes, run[-1] + 1, codes[run])
    return codes


def replace(codes: np.ndarray, chosen: Sequence[int], unit: int) -> np.ndarray:
    """Set the chosen units to `unit`."""
    codes = codes.copy()
    codes[_indices(codes, chosen)] = unit
    return codes


def _indices(codes: np.ndarray, chosen: Sequence[int]) -> np.ndarray:
    """The chosen indices, sorted and without repetitions."""
    whole = isinstance(chosen, Sequence) and all(type(index) is int for index in chosen)
    if not whole or not chosen or min(chosen) < 0 or max(chosen) >= len(codes):
        raise InputError("Choose one or more units first.")
    return np.unique(chosen)
