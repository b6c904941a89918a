"""The tests of some folders, read when they are first asked for and again when they change; who may
add to them, and those that come with Earshot.
"""

import hmac
import re
import secrets
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.study.design import Item, Test, spec
from earshot.study.design.model import PREPARED
from earshot.study.sounds import stimuli
from earshot.study.sounds.copies import Copy
from earshot.study.storage.store import Store

NO_LINK: Final = "Paste the whole link to the results of a test on this server."
RESULTS_LINK: Final = re.compile(r"/results/([\w-]{1,100})(?:\?key=([\w-]{1,100}))?")
WRONG_KEY: Final = "The key in this link is not this test's. Copy the whole link once more."
UNKNOWN: Final = "There is no listening test at this address. Check the link that you were given."
CLOSED: Final = "This listening test is not open. Ask whoever sent you the link."
BUSY: Final = "The sounds of this listening test are being prepared. Try again in a few seconds."
MAX_READERS: Final = 2  # tests whose sounds are decoded at the same time
SPACE_VARIABLE: Final = "SPACE_ID"  # in the environment of a Space of Hugging Face's
NO_KEY: Final = (
    "Type the key of this server: only those who have it from its owner can open tests here."
)
NOBODY_OPENS: Final = (
    "Nobody opens tests on this server but whoever runs it. Download yours, and serve it with "
    "python -m earshot study serve."
)
EXAMPLE: Final = ASSETS / "example_test"  # to open, to copy and to change
VOTE: Final = ASSETS / "vote"  # the blind vote under a conversion


@dataclass(frozen=True)
class Permission:
    """The permission to open tests: for those with the key; without one for every visitor, or for
    none.
    """

    key: str | None = None
    anybody: bool = True

    @classmethod
    def of(cls, key: str | None, environment: Mapping[str, str]) -> "Permission":
        """Decide for a server with this key: on a Space, nobody opens tests without one."""
        return cls(key or None, anybody=SPACE_VARIABLE not in environment)

    @property
    def possible(self) -> bool:
        """Whether a visitor can open a test at all."""
        return self.key is not None or self.anybody

    def check(self, typed: str) -> None:
        """Raise InputError for a visitor who may not open tests."""
        if self.key is None:
            if not self.anybody:
                raise InputError(NOBODY_OPENS)
        elif not secrets.compare_digest(typed.strip().encode(), self.key.encode()):
            raise InputError(NO_KEY)


ANYBODY: Final = Permission()


class BusyError(InputError):
    """An error that the test is being read by another request; it can be asked for again
    soon.
    """


@dataclass(frozen=True, eq=False)  # each is itself alone, and what is kept of it goes with it
class Opened:
    """A test that raters can take, what is played to them by the path in its trials, and the key to
    its results; public: whether the report is shown without the key.
    """

    test: Test
    copies: Mapping[Path, Copy]
    key: str
    public: bool = False

    def sounds(self, item: Item) -> list[Copy]:
        """List what is heard in an item by position, then the open reference where there is one."""
        trial = self.test.trials[item.trial]
        paths = [trial.sounds[system] for system in item.systems]
        return [self.copies[path] for path in [*paths, *filter(None, [trial.reference])]]

    def pictures(self, item: Item) -> list[Path]:
        """List the files of the pictures of an item: one that all its sounds share, or one by the
        place of each; none where raters only listen."""
        paths = [copy.picture_path for copy in self.sounds(item) if copy.picture_path]
        return paths[:1] if len({*paths}) == 1 else paths

    @cached_property
    def video_types(self) -> list[str]:
        """List the types of all pictures, as browsers are asked whether they play them."""
        return sorted({copy.picture.type for copy in self.copies.values() if copy.picture})

    def noise(self, rater: str, order: int, place: int) -> bytes:
        """Compute the seed (32 bytes) of what makes the bytes of a sound differ from any
        other's.
        """
        return hmac.digest(self.key.encode(), f"noise {rater} {order} {place}".encode(), "sha256")


@dataclass
class Entry:
    """A test as it is known since its file was read; failure: why it cannot be opened."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    changed: float = 0.0
    opened: Opened | None = None
    failure: Exception | None = None


class TestLibrary:
    """The tests of some folders, by name. A folder is a test's own, with a test.yaml in it, or
    holds folders of tests; new tests go into the first, and so do copies of sounds whose folder is
    none of ours.

    public: tests whose report every visitor may see. min_time: how much of the length of a trial's
    sounds must pass before its answer is taken. permission: who may add tests of their own.
    """

    __test__: ClassVar[bool] = False  # it is no test of pytest's

    def __init__(
        self,
        folders: Sequence[Path],
        store: Store,
        public: Collection[str] = (),
        min_time: float = 0.9,
        permission: Permission = ANYBODY,
    ) -> None:
        self.folders, self.store = [folder.resolve() for folder in folders], store
        self.public, self.min_time, self.permission = public, min_time, permission
        self._entries: dict[str, Entry] = {}
        self._readers = threading.BoundedSemaphore(MAX_READERS)

    def files(self) -> dict[str, Path]:
        """Find the file of every test that is there, open or not, by name."""
        paths: dict[str, Path] = {}
        for folder in self.folders:
            own = folder / spec.FILE
            files = [own] if own.is_file() else sorted(folder.glob(f"*/{spec.FILE}"))
            paths |= {file.parent.name: file for file in files if file.parent.name not in paths}
        return paths

    def get(self, name: str) -> Opened:
        """Open the test of that name for raters. Raises InputError where it cannot be taken, and
        BusyError, without waiting, where its sounds are being read.
        """
        try:
            return self._open(name, wait=False)
        except spec.SpecError as error:
            raise InputError(CLOSED) from error

    def in_memory(self, name: str) -> Opened | None:
        """Look up the test of that name as it was read last; None where it was not."""
        entry = self._entries.get(name)
        return entry.opened if entry else None

    def open(self, name: str, max_samples: int | None = None) -> Opened:
        """Open the same test, but wait, and raise SpecError with all that is wrong, for organisers.
        max_samples: that all sounds together may hold.
        """
        return self._open(name, wait=True, max_samples=max_samples)

    def with_key(self, name: str, key: str) -> Opened:
        """Open the test for one who has its key. Raises InputError where that is another."""
        opened = self.get(name)
        if not secrets.compare_digest(opened.key.encode(), key.encode()):
            raise InputError(WRONG_KEY)
        return opened

    def by_link(self, link: str) -> Opened:
        """Open the test whose results the link shows, with its key. Raises InputError for what is
        no such link."""
        return self.with_key(*parse_link(link))

    @contextmanager
    def unread(self, name: str) -> Iterator[None]:
        """Keep the test of that name from being read meanwhile, which would store it again, and
        forget it: for its deletion."""
        entry = self._entries.setdefault(name, Entry())
        with entry.lock:
            yield
            self.forget(name)

    def forget(self, name: str) -> None:
        """Forget the test of that name, until it is asked for."""
        self._entries.pop(name, None)

    def _open(self, name: str, wait: bool, max_samples: int | None = None) -> Opened:
        file = self._file(name)
        if file is None:
            self.forget(name)
            raise InputError(UNKNOWN)
        entry = self._entries.setdefault(name, Entry())
        changed = file.stat().st_mtime
        # A test that is read holds up nobody but those who wait for it; raters do not, for each
        # would hold a thread of the server.
        if entry.changed != changed or (wait and entry.failure):  # organisers may have mended it
            if not entry.lock.acquire(blocking=wait):
                raise BusyError(BUSY)
            try:
                if not file.is_file():  # deleted meanwhile
                    raise InputError(UNKNOWN)
                if entry.changed != changed or (wait and entry.failure):
                    self._read(file, entry, wait, max_samples)
                    entry.changed = changed
            finally:
                entry.lock.release()
        if entry.opened is None:
            raise entry.failure or InputError(CLOSED)
        return entry.opened

    def _file(self, name: str) -> Path | None:
        """Find the file of a test without listing the folders."""
        if not spec.NAME.fullmatch(name):
            return None
        for folder in self.folders:
            own = (folder / spec.FILE).is_file()
            file = folder / spec.FILE if own else folder / name / spec.FILE
            if (not own or folder.name == name) and file.is_file():
                return file
        return None

    def _read(self, file: Path, entry: Entry, wait: bool, max_samples: int | None) -> None:
        """Read a test into its entry. What is wrong with it is remembered too, or everybody who
        comes to a broken test would have all of its sounds decoded.
        """
        if not self._readers.acquire(blocking=wait):
            raise BusyError(BUSY)
        try:
            entry.opened = entry.failure = None
            test = spec.load(file)
            if problems := test.unwritten:
                raise spec.SpecError("\n".join(problems))
            copies = stimuli.prepare(test, self._copies(test), max_samples)
            entry.opened = Opened(test, copies, self.store.open(test), test.name in self.public)
        except spec.SpecError as error:
            entry.failure = error
        except InputError as error:
            entry.failure = spec.SpecError(str(error))
        finally:
            self._readers.release()

    def _copies(self, test: Test) -> Path:
        """Choose the folder of the copies of a test's sounds."""
        if test.folder.is_relative_to(self.folders[0]):
            return test.folder / PREPARED
        return self.folders[0] / PREPARED / test.name


def parse_link(link: str) -> tuple[str, str]:
    """Take a link to results apart, with or without words before it → the name of the test, and its
    key or "". Raises InputError for what is none."""
    _, _, last = f" {link}".rstrip().rpartition(" ")
    match = RESULTS_LINK.search(last)
    if match is None:
        raise InputError(NO_LINK)
    return match[1], match[2] or ""
