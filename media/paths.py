"""Where the repository, or the wheel, keeps what is not code."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
# A wheel puts it into a folder of its own, for site-packages are everybody's.
_INSTALLED: Final = ROOT / "earshot_data"
_DATA: Final = _INSTALLED if _INSTALLED.is_dir() else ROOT
ASSETS: Final = _DATA / "assets"
CHECKPOINTS: Final = _DATA / "checkpoints"
