"""Checks the sounds of a test before it opens, and prepares the copies that raters hear."""

from study.design import Test


def check(test: Test) -> list[str]:
    """What must be mended before the test can open, a sentence each; empty when nothing."""
    raise NotImplementedError


def prepare(test: Test) -> Test:
    """The test with the files that raters hear: to be called after check, before serving.

    Where a loudness is stated, these are copies (WAV) at that loudness, in the folder `prepared`
    beside the test's file; MUSHRA's anchors are made there too. Other files stay as they are.
    """
    raise NotImplementedError
