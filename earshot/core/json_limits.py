"""Limits of visitors' JSON, checked before anything is built of it."""

import re
from typing import Final

from earshot.core.errors import InputError

MAX_JSON_BYTES: Final = 1_000_000
MAX_DEPTH: Final = 100  # of lists and objects in JSON
# A minute of units with their vectors has 3,000 lists and 120,000 values.
MAX_LISTS: Final = 20_000  # and objects
MAX_VALUES: Final = 200_000
# A string, or the rest of a text where it has no end. It never backtracks.
STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
BRACKETS: Final = re.compile(rb"[^\[\]{}]+")
NO_UTF_8: Final = "This is no JSON: that is written in UTF-8."


def check_json(text: bytes) -> None:
    """Raise InputError where a text, parsed as JSON, could hold more than a visitor's may: over
    MAX_JSON_BYTES, deeper than MAX_DEPTH, more than MAX_LISTS or MAX_VALUES. Whether it is JSON at
    all is not looked at.
    """
    if len(text) > MAX_JSON_BYTES:
        raise InputError(f"This JSON is too large: it may have {MAX_JSON_BYTES // 1000:,} kB.")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise InputError(NO_UTF_8) from error
    if b"\0" in text:  # UTF-16 and UTF-32, in which the structure could hide
        raise InputError(NO_UTF_8)
    structure = STRING.sub(b"", text)
    lists = structure.count(b"[") + structure.count(b"{")
    if lists > MAX_LISTS or structure.count(b",") > MAX_VALUES:
        raise InputError("This JSON holds too many values. Send fewer at a time.")
    depth = 0
    for bracket in BRACKETS.sub(b"", structure):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            raise InputError("This JSON holds lists within lists within lists. Send flatter ones.")
