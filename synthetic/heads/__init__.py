"""Makes talking heads that anyone may use: painted by numpy and OpenCV, spoken by espeak-ng.

python -m synthetic.heads writes the films of assets/heads; film.render gives one to a program.
"""

from typing import Final

from media.paths import ASSETS

HEADS: Final = ASSETS / "heads"
