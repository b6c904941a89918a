"""Synthetic heads that anyone may use: rendered by numpy and OpenCV, spoken by espeak-ng.

python -m synthetic.heads writes the videos of assets/heads; video.render gives one to a program.
"""

from typing import Final

from earshot.core.paths import ASSETS

HEADS: Final = ASSETS / "heads"
