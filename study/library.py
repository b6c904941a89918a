"""The tests of some folders, read when they are first asked for and again when they change."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from media.errors import InputError
from study.design import Test, spec
from study.storage.store import Store

UNKNOWN: Final = "There is no listening test at this address. Check the link that you were given."
CLOSED: Final = "This listening test is not open. Ask whoever sent you the link."


@dataclass(frozen=True)
class Opened:
    """A test that raters can take, and the key to its results."""

    test: Test
    key: str


class Library:
    """Tests by name. A folder is a test's own, with a test.yaml in it, or holds folders of tests;
    new tests go into the first."""

    def __init__(self, folders: Sequence[Path], store: Store) -> None:
        self.folders, self.store = [folder.resolve() for folder in folders], store
        self._opened: dict[str, tuple[float, Opened]] = {}
        self._lock = threading.Lock()

    def files(self) -> dict[str, Path]:
        """The file of every test that is there, open or not, by name."""
        found: dict[str, Path] = {}
        for folder in self.folders:
            own = folder / spec.FILE
            files = [own] if own.is_file() else sorted(folder.glob(f"*/{spec.FILE}"))
            found |= {file.parent.name: file for file in files if file.parent.name not in found}
        return found

    def get(self, name: str) -> Opened:
        """The test of that name. Raises InputError, for raters, where it cannot be taken."""
        try:
            return self.open(name)
        except spec.SpecError as error:
            raise InputError(CLOSED) from error

    def open(self, name: str) -> Opened:
        """The same, but raises SpecError with all that is wrong, for organisers."""
        file = self.files().get(name)
        if file is None:
            raise InputError(UNKNOWN)
        changed = file.stat().st_mtime
        with self._lock:
            known = self._opened.get(name)
            if known is None or known[0] != changed:
                from study.sounds import stimuli  # late, for it loads scipy

                test = spec.load(file)
                if problems := stimuli.check(test):
                    raise spec.SpecError("\n".join(problems))
                test = stimuli.prepare(test)
                try:
                    key = self.store.open(test)
                except InputError as error:
                    raise spec.SpecError(str(error)) from error
                known = self._opened[name] = changed, Opened(test, key)
            return known[1]
