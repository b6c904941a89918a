"""Where the repository keeps what is not code."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
ASSETS: Final = ROOT / "assets"
CHECKPOINTS: Final = ROOT / "checkpoints"
