"""Words for how sure a model is."""

from typing import Final

# From which confidence a word is called so. Numbers are too high for speakers unlike those of
# the training set, and some end at a ceiling: "93 %" would promise what nobody measured.
MIN_SURE: Final = 0.9
MIN_LIKELY: Final = 0.5
NAMES: Final = ("sure", "likely", "a guess")


def certainty(confidence: float) -> str:
    """Name a confidence from 0 to 1: "sure", "likely" or "a guess"."""
    return NAMES[(confidence < MIN_SURE) + (confidence < MIN_LIKELY)]
