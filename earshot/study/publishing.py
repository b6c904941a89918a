"""Tests that visitors open to raters: within a quota, and deleted again."""

import os
import re
import secrets
import shutil
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from earshot.core.errors import InputError
from earshot.core.files import write
from earshot.study import preregistration
from earshot.study.design import spec
from earshot.study.design.model import PREPARED
from earshot.study.library import UNKNOWN, TestLibrary
from earshot.study.sounds import stimuli

MARK: Final = ".published"  # in the folder of a test that a visitor opened: when, in UTC
PREVIEW: Final = ".preview"  # in that of one that only they can try
MAX_TESTS: Final = 200  # of visitors
MAX_TOTAL_BYTES: Final = 5_000_000_000  # of them, with the copies that raters hear
MIN_FREE_BYTES: Final = 1_000_000_000  # bytes of the disk, for answers
MAX_UNUSED: Final = timedelta(days=7)  # after which a test that nobody has taken is deleted
# The same of a preview, should its visitor not have deleted it.
MAX_PREVIEW: Final = timedelta(hours=1)
IGNORED: Final = shutil.ignore_patterns(PREPARED, "results", ".*")
NOT_HERE: Final = (
    "This test lies in a folder of whoever runs the server: change its YAML there, before anybody "
    "has begun it."
)
FULL: Final = "This server has no room for another test. Download yours, and serve it yourself."


def publish(folder: Path, title: str, tests: TestLibrary, preview: bool = False) -> str:
    """Copy a visitor's test among those that open → its name, which cannot be guessed. preview:
    whether it is closed to raters, and soon gone.

    Raises SpecError with what is wrong, and InputError where there is no room; both leave nothing.
    """
    expire(tests)
    _check_room(folder, tests)
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-")
    name = f"{words or 'test'}-{secrets.token_hex(4)}"
    target = tests.folders[0] / name
    try:
        target.mkdir()
        _mark(target)
        if preview:
            (target / PREVIEW).touch()
        shutil.copytree(folder, target, ignore=IGNORED, dirs_exist_ok=True)
        tests.open(name, stimuli.MAX_TEST_SAMPLES)
        if preview:
            tests.store.close(name)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return name


def change(folder: Path, name: str, tests: TestLibrary, preview: bool = False) -> None:
    """Put a visitor's test in the place of the one of that name, whose links stay. preview: whether
    that is one, and stays one; else it opens to raters now.

    Raises SpecError with what is wrong, and InputError where a rater has begun it, or there is no
    room; then the one that was there stays.
    """
    target = tests.folders[0] / name
    if not published(name, tests):
        raise InputError(NOT_HERE)
    # Below a name that no test can have, so that nobody finds it there.
    new_folder = target.with_name(f".{name}") / name
    shutil.rmtree(new_folder.parent, ignore_errors=True)
    _check_room(folder, tests, instead_of=name)
    try:
        shutil.copytree(folder, new_folder, ignore=IGNORED)
        # Of a frozen test too, whose report says what was changed.
        for file_name in (MARK, preregistration.FILE, *([PREVIEW] if preview else [])):
            if (target / file_name).exists():
                shutil.copyfile(target / file_name, new_folder / file_name)
        opens = (target / PREVIEW).exists() and not preview
        if opens:
            _mark(new_folder)
        changed = spec.load(new_folder)
        tests.store.change(changed)
        target.rename(new_folder.parent / "before")
        new_folder.rename(target)
        if opens:
            tests.store.close(name, False)
    finally:
        shutil.rmtree(new_folder.parent, ignore_errors=True)
    tests.open(name)


def published(name: str, tests: TestLibrary) -> bool:
    """Whether a visitor opened the test of that name."""
    return bool(spec.NAME.fullmatch(name)) and (tests.folders[0] / name / MARK).is_file()


def delete(name: str, tests: TestLibrary) -> None:
    """Delete a visitor's test with its sounds and all answers. Of a test of the server's operator
    all answers, for its files are theirs. Raises InputError where there is none.
    """
    if published(name, tests):
        folder = tests.folders[0] / name
        (folder / spec.FILE).unlink(missing_ok=True)  # first, so that nobody begins it meanwhile
        with tests.unread(name):
            tests.store.delete(name)
            shutil.rmtree(folder, ignore_errors=True)
    elif name in tests.files():
        tests.store.delete(name, answers_only=True)
    else:
        raise InputError(UNKNOWN)
    tests.forget(name)


def expire(tests: TestLibrary, now: datetime | None = None) -> list[str]:
    """Delete visitors' tests that nobody has taken within a week, and old previews → their
    names."""
    now = now or datetime.now(UTC)
    old = [
        folder.name
        for folder in _published(tests)
        if now - _when(folder) > (MAX_PREVIEW if (folder / PREVIEW).exists() else MAX_UNUSED)
        and not tests.store.raters(folder.name)
    ]
    for name in old:
        delete(name, tests)
    return old


def size(folder: Path) -> int:
    """Add up the bytes of all files in a folder."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # deleted just now
                total += os.stat(os.path.join(place, name)).st_size
    return total


def _check_room(folder: Path, tests: TestLibrary, instead_of: str = "") -> None:
    """Raise InputError where a visitor's test finds no room among others', without the one that it
    replaces."""
    others = [each for each in _published(tests) if each.name != instead_of]
    # The copies that raters hear may take as much again.
    needed = 2 * size(folder)
    free = shutil.disk_usage(tests.folders[0]).free
    taken = sum(map(size, others)) + needed
    if len(others) >= MAX_TESTS or taken > MAX_TOTAL_BYTES or free - needed < MIN_FREE_BYTES:
        raise InputError(FULL)


def _published(tests: TestLibrary) -> list[Path]:
    """List the folders of visitors' tests."""
    return [mark.parent for mark in tests.folders[0].glob(f"*/{MARK}")]


def _mark(folder: Path) -> None:
    """Write that a visitor opens the test in the folder now."""
    write(folder / MARK, datetime.now(UTC).isoformat().encode())


def _when(folder: Path) -> datetime:
    """Read when a visitor opened the test."""
    mark = folder / MARK
    try:
        return datetime.fromisoformat(mark.read_text())
    except ValueError:  # empty, after a power cut
        return datetime.fromtimestamp(mark.stat().st_mtime, UTC)
    except OSError:  # just deleted
        return datetime.now(UTC)
