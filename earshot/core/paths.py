"""Where the repository, or the wheel, keeps what is not code."""

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parents[1]
ROOT: Final = _PACKAGE.parent
# A wheel puts it into the package, for site-packages are everybody's.
_DATA: Final = _PACKAGE if (_PACKAGE / "checkpoints").is_dir() else ROOT
ASSETS: Final = _DATA / "assets"
CHECKPOINTS: Final = _DATA / "checkpoints"
