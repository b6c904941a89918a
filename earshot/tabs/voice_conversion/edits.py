"""Edits of a sequence of units, as pure functions.

`chosen` holds the indices of the selected cells. They come from a browser: InputError unless all
lie in the sequence.
"""

from collections.abc import Sequence

import numpy as np

from earshot.core.errors import InputError
from earshot.systems.voice_conversion.settings import MAX_SECONDS, MUTED
from earshot.systems.voice_conversion.units import Units


def apply(
    action: object, units: Units, chosen: Sequence[int], *, unit: object, codebook_size: int
) -> Units:
    """Apply the edit named `action` to units.

    unit: what "replace" puts in. Raises InputError for an action that does not exist and for
    arguments that it cannot take.
    """
    match action:
        case "mute":
            return mute(units, chosen)
        case "delete":
            return delete(units, chosen)
        case "repeat":
            return repeat(units, chosen)
        case "replace":
            if not isinstance(unit, int) or not 0 <= unit < codebook_size:
                raise InputError(f"Units are numbered from 0 to {codebook_size - 1}.")
            return replace(units, chosen, unit)
    raise InputError("There is no such edit. Use Mute, Delete, Repeat, Replace by or Undo.")


def mute(units: Units, chosen: Sequence[int]) -> Units:
    """Replace the chosen units by silence of the same duration."""
    return replace(units, chosen, MUTED)


def delete(units: Units, chosen: Sequence[int]) -> Units:
    """Remove the chosen units; later ones move up. Raises InputError if none would remain."""
    remaining = np.delete(np.arange(len(units.codes)), _indices(units, chosen))
    if not len(remaining):
        raise InputError("At least one unit must stay.")
    return units.at(remaining)


def repeat(units: Units, chosen: Sequence[int]) -> Units:
    """Insert a copy of each contiguous run of chosen units after it.

    Raises InputError if the result were longer than MAX_SECONDS.
    """
    indices = _indices(units, chosen)
    if (len(units.codes) + len(indices)) * units.step > MAX_SECONDS:
        raise InputError(f"That would last longer than {MAX_SECONDS:g} s. Delete something first.")
    order = np.arange(len(units.codes))
    for run in reversed(np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1)):
        order = np.insert(order, run[-1] + 1, run)
    return units.at(order)


def replace(units: Units, chosen: Sequence[int], unit: int) -> Units:
    """Set the chosen units to `unit`."""
    return units.put(_indices(units, chosen), unit)


def _indices(units: Units, chosen: Sequence[int]) -> np.ndarray:
    """Sort the chosen indices, without repetitions."""
    whole = isinstance(chosen, Sequence) and all(type(index) is int for index in chosen)
    if not whole or not chosen or min(chosen) < 0 or max(chosen) >= len(units.codes):
        raise InputError("Choose one or more units first.")
    return np.unique(chosen)
