"""A test as it was frozen before the first rating: its design, texts, sounds and plan, with a hash,
so that a report can state whether anything was changed since.
"""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from earshot.core.errors import InputError
from earshot.core.files import write
from earshot.study.design import Test
from earshot.study.sounds import copies
from earshot.study.storage import tables
from earshot.study.storage.export import described
from earshot.study.storage.store import Store

FILE: Final = "preregistration.json"
FROZEN: Final = (
    "{file} is there already: a test is frozen once. To begin anew, give the test another name."
)
HIDDEN: Final = (
    "This test was frozen: its results are shown when it is closed, and to nobody before."
)


def freeze(test: Test) -> Path:
    """Write what the test is, what will be computed of it, and the hash of both into its folder →
    the file. Raises InputError where it was frozen."""
    file = test.folder / FILE
    if file.exists():
        raise InputError(FROZEN.format(file=file))
    from earshot.study.analysis.report.method import plan  # loads statsmodels

    content = {"plan": [*plan(test)], "test": stated(test), "samples": copies.sample_hashes(test)}
    head = {
        "frozen": datetime.now(UTC).isoformat(timespec="seconds"),
        "sha256": _hash(content),
    }
    record = head | content
    write(file, json.dumps(record, ensure_ascii=False, indent=2).encode())
    return file


def frozen(test: Test) -> bool:
    """Whether the test was frozen."""
    return (test.folder / FILE).is_file()


def look(*tests: tuple[Store, Test]) -> None:
    """Record that what these tests have found is shown, of each that has not ended yet.

    Raises InputError where one of them was frozen, and then records nothing.
    """
    running = [(store, test) for store, test in tests if not store.places(test).ended]
    if any(frozen(test) for _, test in running):
        raise InputError(HIDDEN)
    for store, test in running:
        store.look(test)


def describe_changes(test: Test) -> str:
    """Describe when the test was frozen, and what was changed since; nothing where it was not.

    Raises InputError where the file was changed itself.
    """
    if not frozen(test):
        return ""
    try:
        record = json.loads((test.folder / FILE).read_text(encoding="utf-8"))
        before, hashed = record["test"], record["sha256"]
        when = datetime.fromisoformat(record["frozen"]).astimezone(UTC).strftime(tables.TIME)
        parts = {name: record[name] for name in ("plan", "test", "samples") if name in record}
        whole = _hash(parts) == hashed
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{FILE} cannot be read: bring it back as it was written.") from error
    if not whole:
        return f"{FILE} itself was changed after the test was frozen on {when}."
    now = stated(test)
    names = sorted(now.keys() | before.keys())
    changed = [name for name in names if now.get(name) != before.get(name)]
    same_files = now["sounds"].keys() == before["sounds"].keys()
    if same_files and not copies.other_sounds(test, before["sounds"], parts.get("samples", {})):
        changed = [name for name in changed if name != "sounds"]  # tags may be written into them
    since = f"changed since: {', '.join(changed)}" if changed else "nothing was changed since"
    return f"Frozen on {when} (SHA-256 {hashed[:12]}…); {since}."


def stated(test: Test) -> dict[str, Any]:
    """Describe all that may not change unnoticed, as JSON has it."""
    content = described(test) | {"sounds": copies.file_hashes(test)}
    return json.loads(json.dumps(content, ensure_ascii=False))


def _hash(content: Any) -> str:
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
