"""Edits of units: pure functions of the codes and the chosen cells."""

import numpy as np
import pytest

from media.errors import InputError
from pipelines.voice_conversion.settings import MUTED
from tabs.voice_conversion import edits

CODES = np.array([5, 5, 7, 9, 9, 9])


def test_apply_of_each_action_is_the_edit_of_its_name() -> None:
    def apply(action: object, unit: object = None) -> list[int]:
        codes = edits.apply(action, CODES, [1, 2], unit=unit, codebook_size=16, step=0.04)
        return codes.tolist()

    assert apply("mute") == [5, MUTED, MUTED, 9, 9, 9]
    assert apply("delete") == [5, 9, 9, 9]
    assert apply("repeat") == [5, 5, 7, 5, 7, 9, 9, 9]
    assert apply("replace", unit=3) == [5, 3, 3, 9, 9, 9]


@pytest.mark.parametrize("action", ["", "erase", None, 7, ["mute"]])
def test_apply_of_an_unknown_action_raises(action: object) -> None:
    with pytest.raises(InputError, match="no such edit"):
        edits.apply(action, CODES, [1], unit=None, codebook_size=16, step=0.04)


@pytest.mark.parametrize("unit", [-1, 16, "3", None, 2.5])
def test_apply_of_replace_by_no_unit_of_the_codebook_raises(unit: object) -> None:
    with pytest.raises(InputError, match="from 0 to 15"):
        edits.apply("replace", CODES, [1], unit=unit, codebook_size=16, step=0.04)


def test_mute_keeps_the_duration() -> None:
    assert edits.mute(CODES, [1, 2]).tolist() == [5, MUTED, MUTED, 9, 9, 9]


def test_delete_moves_later_units_up() -> None:
    assert edits.delete(CODES, [0, 2]).tolist() == [5, 9, 9, 9]


def test_repeat_copies_each_run_after_itself() -> None:
    repeated = edits.repeat(CODES, [4, 1, 2], step=0.04)
    assert repeated.tolist() == [5, 5, 7, 5, 7, 9, 9, 9, 9]


def test_replace_sets_all_chosen_units() -> None:
    assert edits.replace(CODES, [0, 5], 3).tolist() == [3, 5, 7, 9, 9, 3]


def test_edits_do_not_change_their_input() -> None:
    for edited in (edits.mute(CODES, [0]), edits.delete(CODES, [0]), edits.replace(CODES, [0], 1)):
        assert not np.shares_memory(edited, CODES)
    assert CODES.tolist() == [5, 5, 7, 9, 9, 9]


@pytest.mark.parametrize("chosen", [[], [-1], [6], [0, 99], None, ["a"], [[0, 1]], [0.5], [True]])
def test_edits_of_cells_that_do_not_exist_raise(chosen: list) -> None:
    with pytest.raises(InputError, match="Choose"):
        edits.delete(CODES, chosen)


def test_delete_of_all_units_raises() -> None:
    with pytest.raises(InputError, match="must stay"):
        edits.delete(CODES, range(6))


def test_repeat_beyond_the_maximum_duration_raises() -> None:
    with pytest.raises(InputError, match="60 s"):
        edits.repeat(np.zeros(1600, dtype=np.int64), range(1600), step=0.02)
