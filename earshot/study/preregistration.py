"""A test as it was frozen before anybody rated: its design, texts, sounds and plan, with a hash, so
that a report can say whether anything was changed since."""

import hashlib
import json
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from earshot.core.errors import InputError
from earshot.study.design import Test
from earshot.study.sounds import hashes
from earshot.study.storage.export import described

FILE: Final = "preregistration.json"
FROZEN: Final = (
    "{file} is there already: a test is frozen once. To begin anew, give the test another name."
)
HIDDEN: Final = (
    "This test was frozen: its results are shown when it is closed, and to nobody before."
)
PLAN: Final = (
    "Means, shares or strengths of systems with 95 % intervals that know that ratings of one rater "
    "and of one stimulus belong together; differences of all pairs of systems with p-values of the "
    "same intervals, corrected by Holm. Raters are left out by the rules of the test only. The "
    "analysis is that of Earshot {version}, run once, after the test has closed."
)


def freeze(test: Test) -> Path:
    """Write what the test is into its folder → the file. Raises InputError where it was frozen."""
    file = test.folder / FILE
    if file.exists():
        raise InputError(FROZEN.format(file=file))
    content = stated(test)
    kept = {
        "frozen": datetime.now(UTC).isoformat(timespec="seconds"),
        "sha256": _hash(content),
        "plan": PLAN.format(version=_version()),
        "test": content,
    }
    file.write_text(json.dumps(kept, ensure_ascii=False, indent=2), encoding="utf-8")
    return file


def frozen(test: Test) -> bool:
    """Whether the test was frozen."""
    return (test.folder / FILE).is_file()


def said(test: Test) -> str:
    """Say when the test was frozen, and what was changed since; nothing where it was not.

    Raises InputError where the file was changed itself.
    """
    if not frozen(test):
        return ""
    try:
        kept = json.loads((test.folder / FILE).read_text(encoding="utf-8"))
        before, when, hashed = kept["test"], kept["frozen"], kept["sha256"]
        whole = _hash(before) == hashed
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{FILE} cannot be read: bring it back as it was written.") from error
    if not whole:
        return f"{FILE} itself was changed after the test was frozen on {when[:10]}."
    now = stated(test)
    names = sorted(now.keys() | before.keys())
    changed = [name for name in names if now.get(name) != before.get(name)]
    since = f"changed since: {', '.join(changed)}" if changed else "nothing was changed since"
    return f"Frozen on {when[:10]} (SHA-256 {hashed[:12]}…); {since}."


def stated(test: Test) -> dict[str, Any]:
    """Describe all that may not change unnoticed, as JSON has it."""
    content = described(test) | {"sounds": hashes.heard(test)["files"]}
    return json.loads(json.dumps(content, ensure_ascii=False))


def _hash(content: Any) -> str:
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _version() -> str:
    try:
        return version("earshot")
    except PackageNotFoundError:
        return "of these sources"
