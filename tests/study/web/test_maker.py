"""The process in which reports are made."""

import operator
import os
import time

import pytest

from earshot.core.errors import InputError
from earshot.study.web.results.maker import MAX_MEMORY, NICE, Maker, maker


def test_maker_works_elsewhere_at_low_priority() -> None:
    assert maker()(os.getpid) == maker()(os.getpid) != os.getpid()
    assert maker()(os.nice, 0) == min(os.nice(0) + NICE, 19)


def test_maker_raises_what_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        maker()(operator.truediv, 1, 0)
    assert maker()(abs, -1) == 1


def test_ended_process_is_replaced() -> None:
    make = Maker()
    with pytest.raises(RuntimeError, match="has ended"):
        make(os._exit, 1)
    assert make(abs, -1) == 1


def test_endless_analysis_gives_way() -> None:
    """Whoever waits for another gets it."""
    make = Maker(seconds=1.0)
    with pytest.raises(InputError, match="longer, or more memory"):
        make(time.sleep, 3600)
    assert make(abs, -1) == 1


def test_analysis_that_takes_all_memory_ends() -> None:
    with pytest.raises(InputError, match="longer, or more memory"):
        maker()(bytes, MAX_MEMORY)
    assert maker()(abs, -1) == 1
