"""The tests of a folder, read when they are first asked for and again when they change."""

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from media.errors import InputError
from study import spec, stimuli
from study.design import Test
from study.store import Store

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
FILE: Final = "test.yaml"
UNKNOWN: Final = "There is no listening test at this address. Check the link that you were given."
CLOSED: Final = "This listening test is not open. Ask whoever sent you the link."


@dataclass(frozen=True)
class Opened:
    """A test that raters can take, and the key to its results."""

    test: Test
    key: str


class Library:
    """Tests by name: those of the folders, each in a folder with its test.yaml."""

    def __init__(self, folders: Sequence[Path], store: Store) -> None:
        self.folders, self.store = list(folders), store
        self._opened: dict[str, tuple[float, Opened]] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """Every test that is there, open or not."""
        files = [file for folder in self.folders for file in sorted(folder.glob(f"*/{FILE}"))]
        return [file.parent.name for file in files]

    def get(self, name: str) -> Opened:
        """The test of that name. Raises InputError, for raters, where it cannot be taken."""
        try:
            return self.open(name)
        except spec.SpecError as error:
            raise InputError(CLOSED) from error

    def open(self, name: str) -> Opened:
        """The same, but raises SpecError with all that is wrong, for organisers."""
        file = self._file(name)
        changed = file.stat().st_mtime
        with self._lock:
            known = self._opened.get(name)
            if known is None or known[0] != changed:
                test = spec.load(file)
                if problems := stimuli.check(test):
                    raise spec.SpecError("\n".join(problems))
                test = stimuli.prepare(test)
                known = self._opened[name] = changed, Opened(test, self.store.open(test))
            return known[1]

    def _file(self, name: str) -> Path:
        if NAME.fullmatch(name):
            for folder in self.folders:
                if (folder / name / FILE).is_file():
                    return folder / name / FILE
        raise InputError(UNKNOWN)
