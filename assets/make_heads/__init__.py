"""Makes talking heads that anyone may use: painted by numpy and OpenCV, spoken by espeak-ng.

python -m assets.make_heads writes the films of assets/heads; film.render gives one to a program.
"""

from pathlib import Path
from typing import Final

HEADS: Final = Path(__file__).parents[1] / "heads"
