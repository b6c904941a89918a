"""The data kept of a visitor: recordings go once they were used, the rest when they leave.

What is in files lies in one folder for everything temporary of this process, which does not outlive
it: a process that was killed leaves its folder behind, and the next one that starts deletes it.
"""

import fcntl
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final, Generic, Protocol, TypeVar
from weakref import WeakSet, WeakValueDictionary

import gradio as gr

from earshot.core.paths import ROOT
from earshot.tabs.shared.gradio_internals import among_uploads, content_addressed, current_page

MAX_AGE: Final = 3600  # seconds, for visitors who leave the page open
# Seconds after which a visitor is gone for good. A connection that is lost for an instant looks
# just like a page that is closed, and their work must not go with it.
GRACE: Final = 300.0
LOCK: Final = "lock"


class Clearable(Protocol):
    """A thing that can be forgotten."""

    def clear(self) -> None: ...


K = TypeVar("K", bound=Clearable)
_stores: "WeakSet[SessionStore[Any]]" = WeakSet()  # all that there are


def used(session: str) -> None:
    """Note that something happens in a visitor's session: they are here."""
    for store in [*_stores]:
        store.stay(session)


class SessionStore(Generic[K]):
    """One thing for each visitor, which `make` makes; their gr.State owns it."""

    def __init__(self, make: Callable[[], K]) -> None:
        self._make = make
        # Only to find what a visitor who leaves had kept.
        self._things: WeakValueDictionary[str, K] = WeakValueDictionary()
        self._leaving: dict[str, threading.Timer] = {}
        self._lock = threading.Lock()
        _stores.add(self)

    def state(self) -> gr.State:
        """Make the state that holds a visitor's thing, empty at first; what it holds is cleared
        some minutes after the visitor left, or after an hour in which they did nothing.
        """
        if page := current_page():
            page.unload(self.leave)
        return gr.State(None, time_to_live=MAX_AGE, delete_callback=_clear)

    def of(self, held: K | None, request: gr.Request) -> K:
        """Find what the visitor's state holds, or make a new one."""
        session = str(request.session_hash)
        self.stay(session)
        if held is None:
            held = self._make()
        self._things[session] = held
        return held

    def stay(self, session: str) -> None:
        """Keep what a visitor had kept, though their connection ended: they are here again."""
        with self._lock:
            if timer := self._leaving.pop(session, None):
                timer.cancel()

    def leave(self, request: gr.Request) -> None:
        """Clear what a visitor had kept GRACE seconds after their connection ended, unless
        something happens in their session."""
        session = str(request.session_hash)
        timer = threading.Timer(GRACE, self.expire, [session])
        timer.daemon = True
        with self._lock:
            if session not in self._things:
                return
            if earlier := self._leaving.pop(session, None):
                earlier.cancel()
            self._leaving[session] = timer
        timer.start()

    def expire(self, session: str) -> None:
        """Clear what a visitor had kept, if they have left and not used it since."""
        with self._lock:
            if not self._leaving.pop(session, None):
                return  # used again, just now
            owned = self._things.pop(session, None)
        _clear(owned)


def is_upload(path: str | Path) -> bool:
    """Whether a file is one visitor's own: a request may name any file that Gradio serves, and
    what Gradio names after its content may be another's too."""
    real = among_uploads(path)
    return real is not None and not content_addressed(real)


@contextmanager
def delete_after_use(upload: str | None) -> Iterator[None]:
    """Delete the file of an upload afterwards, whatever happens. Files that visitors share stay
    until Gradio deletes them, within the hour."""
    try:
        yield
    finally:
        if upload and is_upload(upload):
            Path(upload).unlink(missing_ok=True)


def _clear(owned: Clearable | None) -> None:
    if owned is not None:
        owned.clear()


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make Python's and Gradio's temporary folder, inside $GRADIO_TEMP_DIR or the system's, until
    the end. Folders of processes of this installation that live no more are deleted first."""
    root = Path(os.environ.get("GRADIO_TEMP_DIR") or tempfile.gettempdir())
    parent = root / f"earshot-{os.getuid()}-{sha256(str(ROOT).encode()).hexdigest()[:8]}"
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = parent.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
        parent = Path(tempfile.mkdtemp(prefix="earshot-", dir=root))  # that one is another user's
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
            with open(folder / LOCK, opener=_without_waiting) as lock:
                abandoned = _locked(lock)
        except OSError:  # it is being made now, or deleted, or no folder of ours
            continue
        if abandoned:
            shutil.rmtree(folder, ignore_errors=True)


def _without_waiting(path: str, flags: int) -> int:
    """Open a file: a FIFO of that name waits for nobody."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)


def _locked(file: IO[str]) -> bool:
    """Lock the file until it is closed, which the kernel does for a process that is killed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
