"""Edits of units: pure functions of the codes and the chosen cells."""

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.systems.voice_conversion.settings import MUTED
from earshot.systems.voice_conversion.units import Intonation, Units
from earshot.tabs.voice_conversion.view import (
    apply_edit,
    delete_units,
    mute_units,
    repeat_units,
    replace_units,
)

STEP = 0.02
UNITS = Units(
    np.array([5, 5, 7, 9, 9, 9]),
    STEP,
    "units-16",
    "",
    np.arange(12, dtype=np.float32).reshape(6, 2),
    Intonation(np.array([1, 1, 0, 0, 1, 1]) > 0, np.arange(6, dtype=np.float32)),
)


def test_apply_makes_edit_of_each_action() -> None:
    def apply(action: object, unit: object = None) -> list[int]:
        units = apply_edit(action, UNITS, [1, 2], unit=unit, codebook_size=16)
        return units.codes.tolist()

    assert apply("mute") == [5, MUTED, MUTED, 9, 9, 9]
    assert apply("delete") == [5, 9, 9, 9]
    assert apply("repeat") == [5, 5, 7, 5, 7, 9, 9, 9]
    assert apply("replace", unit=3) == [5, 3, 3, 9, 9, 9]


@pytest.mark.parametrize("action", ["", "erase", None, 7, ["mute"]])
def test_apply_of_an_unknown_action_raises(action: object) -> None:
    with pytest.raises(InputError, match="no such edit"):
        apply_edit(action, UNITS, [1], unit=None, codebook_size=16)


@pytest.mark.parametrize("unit", [-1, 16, "3", None, 2.5])
def test_apply_of_replace_outside_codebook_raises(unit: object) -> None:
    with pytest.raises(InputError, match="from 0 to 15"):
        apply_edit("replace", UNITS, [1], unit=unit, codebook_size=16)


def test_mute_keeps_the_duration() -> None:
    assert mute_units(UNITS, [1, 2]).codes.tolist() == [5, MUTED, MUTED, 9, 9, 9]


def test_delete_moves_later_units_up() -> None:
    assert delete_units(UNITS, [0, 2]).codes.tolist() == [5, 9, 9, 9]


def test_repeat_copies_each_run_after_itself() -> None:
    repeated = repeat_units(UNITS, [4, 1, 2])
    assert repeated.codes.tolist() == [5, 5, 7, 5, 7, 9, 9, 9, 9]


def test_replace_sets_all_chosen_units() -> None:
    assert replace_units(UNITS, [0, 5], 3).codes.tolist() == [3, 5, 7, 9, 9, 3]


def test_edits_move_content_and_intonation() -> None:
    shorter = delete_units(UNITS, [0, 2])
    assert shorter.vectors is not None and shorter.intonation is not None
    assert shorter.vectors[:, 0].tolist() == [2, 6, 8, 10]
    assert shorter.intonation.log_f0.tolist() == [1, 3, 4, 5]
    longer = repeat_units(UNITS, [4])
    assert longer.vectors is not None and longer.intonation is not None
    assert longer.vectors[:, 0].tolist() == [0, 2, 4, 6, 8, 8, 10]
    assert longer.intonation.voiced.tolist() == [True, True, False, False, True, True, True]


def test_edited_units_keep_saying_so() -> None:
    assert UNITS.edited is None
    put = replace_units(mute_units(UNITS, [0]), [2], 3)
    assert put.edited is not None and np.flatnonzero(put.edited).tolist() == [0, 2]
    moved = repeat_units(delete_units(put, [1]), [1])
    assert moved.codes.tolist() == [MUTED, 3, 3, 9, 9, 9]
    read = Units.from_json(moved.to_json())
    for units in (moved, read):
        assert units.edited is not None and np.flatnonzero(units.edited).tolist() == [0, 1, 2]
    for other in ("[7]", "[-1]", '["0"]', "3", "[true]"):
        text = moved.to_json().replace('"edited": [0, 1, 2]', f'"edited": {other}')
        with pytest.raises(InputError, match="not a units file"):
            Units.from_json(text)


def test_edits_do_not_change_their_input() -> None:
    for edited in (mute_units(UNITS, [0]), delete_units(UNITS, [0]), replace_units(UNITS, [0], 1)):
        assert not np.shares_memory(edited.codes, UNITS.codes)
    assert UNITS.codes.tolist() == [5, 5, 7, 9, 9, 9]


@pytest.mark.parametrize("chosen", [[], [-1], [6], [0, 99], None, ["a"], [[0, 1]], [0.5], [True]])
def test_edits_of_missing_cells_raise(chosen: list) -> None:
    with pytest.raises(InputError, match="Choose"):
        delete_units(UNITS, chosen)


def test_delete_of_all_units_raises() -> None:
    with pytest.raises(InputError, match="must stay"):
        delete_units(UNITS, range(6))


def test_repeat_beyond_the_maximum_duration_raises() -> None:
    with pytest.raises(InputError, match="60 s"):
        repeat_units(Units(np.zeros(1600, dtype=np.int64), STEP, "units-16", ""), range(1600))
