"""The sounds that raters hear of a test, as hashes: kept when the first of them comes, so that a
sound that is exchanged later under its old name is noticed.
"""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from earshot.study.design import Test
from earshot.study.design.trials import PREPARED

EXCHANGED: Final = (
    "The sounds of this test are not those that raters have answered ({names}): bring them back, "
    "or give the changed test another name."
)
MAX_FILES: Final = 20_000  # whose hashes are remembered while they do not change
MAX_NAMES: Final = 3  # of files that a message repeats


def heard(test: Test) -> dict[str, Any]:
    """Describe what raters hear: {"loudness": LUFS or None, "files": {path: SHA-256}}, with paths
    relative to the test's folder. Files that are not there are left out."""
    sounds = {path for trial in test.trials for path in trial.sounds.values()}
    sounds |= {trial.reference for trial in test.trials if trial.reference}
    made = test.folder / PREPARED  # from the others
    files = sorted(path for path in sounds if path.is_file() and path.parent != made)
    hashes = {path.relative_to(test.folder).as_posix(): _hash(path) for path in files}
    return {"loudness": test.loudness, "files": hashes}


def difference(test: Test, before: Mapping[str, Any] | None) -> str | None:
    """Say how the sounds differ from those that were heard before; None where they do not, where
    nothing was kept of them, or where files are only away."""
    if not before:
        return None
    now = heard(test)
    names = [
        name for name, hashed in now["files"].items() if before["files"].get(name, hashed) != hashed
    ]
    if not names and now["loudness"] == before["loudness"]:
        return None
    more = " …" * (len(names) > MAX_NAMES)
    shown = ", ".join(names[:MAX_NAMES]) + more or f"loudness {before['loudness']} before"
    return EXCHANGED.format(names=shown)


def _hash(path: Path) -> str:
    found = path.stat()
    return _hash_of(path, found.st_size, found.st_mtime_ns)


@lru_cache(MAX_FILES)
def _hash_of(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
