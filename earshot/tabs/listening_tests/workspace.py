"""The test that a visitor works on before it is opened to raters."""

import shutil
import tempfile
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError
from earshot.study.design import Test, folder, spec
from earshot.study.design.document import MAX_FILE_BYTES, SpecError
from earshot.study.design.form import Form
from earshot.study.library import TestLibrary
from earshot.study.publishing import IGNORED, MIN_FREE_BYTES, delete, published, size
from earshot.study.sounds import stimuli

BEGINS: Final = "earshot-test-"  # of folders
MAX_ALL_BYTES: Final = 5_000_000_000  # of the tests that all visitors work on
NO_ROOM: Final = "This server has no room for another test just now. Try again in an hour."


@dataclass(frozen=True)
class Preview:
    """A visitor's test among those that open, of that name, while only they can try it."""

    name: str
    tests: TestLibrary

    def delete(self) -> None:
        """Delete it, unless it is gone."""
        if published(self.name, self.tests):
            delete(self.name, self.tests)


@dataclass
class Workspace:
    """The folder of a visitor's test while they work on it; open: what it is called among those
    that open, once raters can come. uploads: the files that its sounds came in.
    """

    folder: Path
    preview: Preview | None = None
    open: str = ""
    uploads: tuple[str, ...] = ()

    @classmethod
    def new(cls) -> "Workspace":
        """Make a folder for a test, which goes with this object where nobody clears it before."""
        workspace = cls(Path(tempfile.mkdtemp(prefix=BEGINS)))
        weakref.finalize(workspace, _delete, workspace.folder)
        return workspace

    @property
    def zip(self) -> Path:
        """Name the file to download the test by."""
        return self.folder.with_name(f"{self.folder.name}-zip") / "listening-test.zip"

    def reports(self) -> Path:
        """Make an empty folder for reports on imported ratings."""
        shutil.rmtree(self._reports, ignore_errors=True)
        self._reports.mkdir()
        return self._reports

    @property
    def _reports(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}-reports")

    def clear(self) -> None:
        """Delete the test, and what was made of it."""
        if self.preview:  # in a thread, for the database may be busy, and the server asks for this
            threading.Thread(target=self.preview.delete, daemon=True).start()
            self.preview = None
        _delete(self.folder)

    def yaml(self, form: Form) -> str:
        """Return the YAML that came with the sounds, else that of the form."""
        file = self.folder / spec.FILE
        if file.exists():
            # Its size is checked when it is read as YAML; the editor shows no more than that.
            with file.open(encoding="utf-8", errors="replace") as opened:
                return opened.read(MAX_FILE_BYTES + 1)
        return folder.describe(self.folder, form)

    @property
    def has_test(self) -> bool:
        """Whether there is a YAML already."""
        return (self.folder / spec.FILE).exists()

    def edited(self, yaml: str, form: Form) -> str:
        """Return the YAML with what the form says other than it; as it is where it cannot be
        read."""
        self.write(yaml)
        try:
            return form.into(yaml, Form.of(spec.load(self.folder)))
        except SpecError:
            return yaml

    def form(self) -> Form | None:
        """Read the form from the test; None where it cannot be read."""
        try:
            return Form.of(spec.load(self.folder))
        except SpecError:
            return None

    def copy(self, folder: Path) -> None:
        """Take over the test in the folder, without what was made of it."""
        shutil.copytree(folder, self.empty(), ignore=IGNORED, dirs_exist_ok=True)

    def write(self, yaml: str) -> None:
        """Write the YAML next to the sounds."""
        (self.folder / spec.FILE).write_text(yaml, encoding="utf-8", errors="replace")

    def check(self) -> tuple[Test | None, list[str]]:
        """Check the test: it, None where its YAML cannot be read, and its problems."""
        try:
            test = spec.load(self.folder)
        except SpecError as error:
            return None, str(error).splitlines()
        return test, [*test.unwritten, *stimuli.check(test, stimuli.MAX_TEST_SAMPLES)]

    def check_room(self) -> None:
        """Raise InputError where the tests of all visitors, or what else is on the disk, leave no
        room for one more."""
        place = self.folder.parent
        free = shutil.disk_usage(place).free - folder.MAX_UNPACKED_BYTES
        if free < MIN_FREE_BYTES or sum(map(size, place.glob(f"{BEGINS}*"))) > MAX_ALL_BYTES:
            raise InputError(NO_ROOM)

    def empty(self) -> Path:
        """Empty the folder. Raises InputError where there is no room for what is to come."""
        self.check_room()
        self.clear()
        self.open, self.uploads = "", ()
        self.folder.mkdir()
        return self.folder


def _delete(folder: Path) -> None:
    for place in ("", "-zip", "-reports"):
        shutil.rmtree(folder.with_name(folder.name + place), ignore_errors=True)
