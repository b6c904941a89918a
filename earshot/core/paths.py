"""The folders in which the repository, or the wheel, keeps what is not code; and names as a disk
has them.
"""

import unicodedata
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parents[1]
ROOT: Final = _PACKAGE.parent
# A wheel puts it into the package, for site-packages are everybody's.
_DATA: Final = _PACKAGE if (_PACKAGE / "checkpoints").is_dir() else ROOT
ASSETS: Final = _DATA / "assets"
CHECKPOINTS: Final = _DATA / "checkpoints"


def as_stored(path: Path) -> Path:
    """Find a path as the disk spells it: in NFC and in NFD, as macOS writes it, é is one letter.

    The path itself, where it is there, or nothing else is of that name.
    """
    if path.exists() or not path.name or path.parent == path:
        return path
    parent = as_stored(path.parent)
    wanted = unicodedata.normalize("NFC", path.name)
    found = parent.iterdir() if parent.is_dir() else ()
    same = (each for each in found if unicodedata.normalize("NFC", each.name) == wanted)
    return next(same, path)
