"""Limits on the time that refusals and parsers take, for tests."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quickly(seconds: float = 5) -> Iterator[None]:
    """Check that what this thread does takes at most so many seconds of a processor.

    Other threads and processes do not count, for tests run beside other work. What is made to take
    long takes far longer than this where nothing refuses it.
    """
    began = time.thread_time()
    yield
    took = time.thread_time() - began
    assert took < seconds, f"took {took:.1f} s"
