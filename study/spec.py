"""Reads a test's YAML file."""

from pathlib import Path

from study.design import Test


class SpecError(ValueError):
    """What is wrong in a test's file, a line each: "test.yaml, line 12: what and what instead"."""


def load(path: Path) -> Test:
    """The test in a YAML file, ours or webMUSHRA's, or in the folder that holds test.yaml.

    Its name is the folder's, for another file than test.yaml the file's. Sounds may be missing:
    see study.stimuli. Raises SpecError with all that is wrong.
    """
    raise NotImplementedError
