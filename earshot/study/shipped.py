"""The listening tests that come with Earshot."""

from typing import Final

from earshot.core.paths import ASSETS

EXAMPLE: Final = ASSETS / "study_example"  # to open, to copy and to change
VOTE: Final = ASSETS / "vote"  # the blind vote under a conversion
