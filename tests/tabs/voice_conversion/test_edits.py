"""Edits of units: pure functions of the codes and the chosen cells."""

import numpy as np
import pytest

from media.errors import InputError
from tabs.components.timeline.lanes import MUTED
from tabs.voice_conversion import edits

CODES = np.array([5, 5, 7, 9, 9, 9])


def test_mute_keeps_the_time() -> None:
    assert edits.mute(CODES, [1, 2]).tolist() == [5, MUTED, MUTED, 9, 9, 9]


def test_delete_closes_the_gap() -> None:
    assert edits.delete(CODES, [0, 2]).tolist() == [5, 9, 9, 9]


def test_repeat_says_each_stretch_once_more_in_place() -> None:
    repeated = edits.repeat(CODES, [4, 1, 2], step=0.04)
    assert repeated.tolist() == [5, 5, 7, 5, 7, 9, 9, 9, 9]


def test_replace_puts_one_unit_everywhere() -> None:
    assert edits.replace(CODES, [0, 5], 3).tolist() == [3, 5, 7, 9, 9, 3]


def test_edits_leave_the_original_as_it_was() -> None:
    for edited in (edits.mute(CODES, [0]), edits.delete(CODES, [0]), edits.replace(CODES, [0], 1)):
        assert not np.shares_memory(edited, CODES)
    assert CODES.tolist() == [5, 5, 7, 9, 9, 9]


@pytest.mark.parametrize("chosen", [[], [-1], [6], [0, 99], None, ["a"], [[0, 1]], [0.5], [True]])
def test_cells_that_are_not_there_are_refused(chosen: list) -> None:
    with pytest.raises(InputError, match="Choose"):
        edits.delete(CODES, chosen)


def test_the_last_unit_cannot_go() -> None:
    with pytest.raises(InputError, match="must stay"):
        edits.delete(CODES, range(6))


def test_repeating_stops_at_a_minute() -> None:
    with pytest.raises(InputError, match="60 s"):
        edits.repeat(np.zeros(1600, dtype=np.int64), range(1600), step=0.02)
