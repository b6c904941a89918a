"""The texts of the rater's page, a JSON file for each language: en.json is the one to translate."""

import json
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any, Final

ENGLISH: Final = "en"
LANGUAGES: Final = tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.json")))
ACCEPTED: Final = re.compile(r"([A-Za-z]{1,8})[A-Za-z0-9-]*(?:\s*;\s*q=([\d.]+))?")
MAX_HEADER: Final = 1000  # characters of a header


@cache
def words(language: str) -> dict[str, Any]:
    """Read all texts by their keys; English where there is no such language."""
    known = language if language in LANGUAGES else ENGLISH
    return json.loads((Path(__file__).parent / f"{known}.json").read_text(encoding="utf-8"))


def chosen(asked: str | None, accepted: str, written: Collection[str], own: str) -> str:
    """Choose the language to show: the one that is asked for ("de", "de-AT"), if we speak it; else
    the first that the browser accepts (Accept-Language) of those in which the test is written; else
    its own.
    """
    spoken = (asked or "").partition("-")[0].lower()
    if spoken in LANGUAGES:
        return spoken
    offers = [
        (-float(weight or 1), place, name.lower())
        for place, (name, weight) in enumerate(ACCEPTED.findall(accepted[:MAX_HEADER]))
        if re.fullmatch(r"(\d+(\.\d*)?)?", weight)
    ]
    return next((name for _, _, name in sorted(offers) if name in written), own)
