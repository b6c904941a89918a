"""The folders in which the repository, or the wheel, keeps what is not code; the version that they
are of; and names as a disk has them.
"""

import os
import tempfile
import tomllib
import unicodedata
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parents[1]
ROOT: Final = _PACKAGE.parent
# A wheel puts it into the package, for site-packages are everybody's.
_DATA: Final = _PACKAGE if (_PACKAGE / "checkpoints").is_dir() else ROOT
ASSETS: Final = _DATA / "assets"
CHECKPOINTS: Final = _DATA / "checkpoints"
PIPELINES: Final = _DATA / "pipelines"


def release() -> str:
    """Name the version of Earshot, installed or in its folder."""
    try:
        return version("earshot")
    except PackageNotFoundError:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        return str(project["project"]["version"])


def user_folder(variable: str, below_home: str) -> Path:
    """Return the folder of Earshot's in what a variable of XDG names, else in the user's home; in
    the temporary folder for a user without one, as in many containers."""
    named = Path(os.environ.get(variable, ""))
    if named.is_absolute():
        return named / "earshot"
    try:
        return Path.home() / below_home / "earshot"
    except RuntimeError:
        return Path(tempfile.gettempdir(), f"earshot-home-{os.getuid()}", below_home, "earshot")


def as_stored(path: Path) -> Path:
    """Return a path as the disk spells it: in NFC and in NFD, as macOS writes it, é is one letter.

    It is the path itself where that is there, or where nothing else is of that name.
    """
    if path.exists() or not path.name or path.parent == path:
        return path
    parent = as_stored(path.parent)
    name = unicodedata.normalize("NFC", path.name)
    others = parent.iterdir() if parent.is_dir() else ()
    same = (each for each in others if unicodedata.normalize("NFC", each.name) == name)
    return next(same, path)
