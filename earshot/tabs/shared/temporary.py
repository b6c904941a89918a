"""One folder for everything temporary of this process, which does not outlive it.

Uploads, visitors' libraries and tests in the making lie in it. A process that was killed leaves its
folder behind; the next one that starts deletes it.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, Final

from earshot.core.paths import ROOT

LOCK: Final = "lock"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make Python's and Gradio's temporary folder, inside $GRADIO_TEMP_DIR or the system's, until
    the end. Folders of processes of this installation that live no more are deleted first."""
    root = Path(os.environ.get("GRADIO_TEMP_DIR") or tempfile.gettempdir())
    parent = root / f"earshot-{os.getuid()}-{sha256(str(ROOT).encode()).hexdigest()[:8]}"
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    delete_abandoned(parent)
    folder = Path(tempfile.mkdtemp(dir=parent))
    before = os.environ.get("GRADIO_TEMP_DIR"), tempfile.tempdir
    os.environ["GRADIO_TEMP_DIR"] = tempfile.tempdir = str(folder)
    try:
        with open(folder / "unlocked", "w") as lock:
            _locked(lock)
            # Under its name only now: a process that starts meanwhile would find it unlocked.
            os.rename(lock.name, folder / LOCK)
            yield folder
    finally:
        os.environ.pop("GRADIO_TEMP_DIR")
        if before[0] is not None:
            os.environ["GRADIO_TEMP_DIR"] = before[0]
        tempfile.tempdir = before[1]
        shutil.rmtree(folder, ignore_errors=True)


def delete_abandoned(parent: Path) -> None:
    """Delete the folders in the parent that no living process has locked."""
    for folder in parent.iterdir():
        try:
            with open(folder / LOCK) as lock:
                abandoned = _locked(lock)
        except FileNotFoundError:  # it is being made now, or deleted
            continue
        if abandoned:
            shutil.rmtree(folder, ignore_errors=True)


def _locked(file: IO[str]) -> bool:
    """Lock the file until it is closed, which the kernel does for a process that is killed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
