"""The paid panel of a test, as its YAML describes it: who comes by its links, and where they go
back to.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, get_args

from earshot.study.design.patterns import inside
from earshot.study.design.yaml_lines import Value

# How it ends for a rater. Screened out are those who fail the headphone check, the test of their
# room, or too many of the attention checks; full is said to those who find no place, and closed
# where the test has ended.
Outcome = Literal[
    "complete",
    "headphones",
    "environment",
    "attention",
    "no_consent",
    "withdrawn",
    "full",
    "closed",
]

SCREENS: Final = ("headphones", "environment", "attention")
KEYS: Final = ("link", "signed", "complete", "screened_out", "no_consent", "withdrawn", "full")
SIGNED: Final = ("name", "keys", "audience")
MAX_KEYS: Final = 50_000  # bytes of a file of keys
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
OURS: Final = ("rater", "lang")  # names that our own links use
CODE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
ADDRESS: Final = re.compile(r"https?://[^\s{}]+(\{[^\s{}]*\}[^\s{}]*)*")
GAP: Final = re.compile(r"\{([^{}]*)\}")
MAX_NAMES: Final = 8
MAX_LENGTH: Final = 1000  # characters of an address


@dataclass(frozen=True)
class Signed:
    """The signature of a panel. name: of what the panel adds to the link, a JSON Web Token that it
    has signed; keys: its public keys, a JSON Web Key Set; audience: for whom it signs, None: for
    anybody.
    """

    name: str
    keys: Mapping[str, Any]
    audience: str | None = None


@dataclass(frozen=True)
class Panel:
    """A paid panel. link: names of what the panel adds to the raters' link, the first of which
    tells raters apart. returns: by outcome, the address a rater goes back to, in which {NAME}
    stands for what their link said, or a code that they are shown. signed: how the panel proves who
    comes, None where it does not.
    """

    link: tuple[str, ...] = ()
    returns: Mapping[Outcome, str] = field(default_factory=dict)
    signed: Signed | None = None

    def screens(self, outcome: Outcome) -> bool:
        """Say whether raters end there, and do not go on."""
        return outcome in SCREENS and outcome in self.returns

    def back(self, outcome: Outcome | None) -> str | None:
        """Look up the address or code of an outcome; raters who come too late are told what is told
        when full.
        """
        return self.returns.get("full" if outcome == "closed" else outcome) if outcome else None


def read_panel(document: Value, folder: Path) -> Panel:
    """Read the panel of a test; one that sends nobody anywhere where there is none."""
    value = document.at("panel")
    if not document.has("panel"):
        return Panel()
    if not isinstance(value.content, dict):
        value.problem(f"write {', '.join(KEYS)} here, whichever the panel has.")
        return Panel()
    value.only(KEYS)
    names = [each.be(str, "link") for each in value.take("link", list, [])]
    for name in names:
        if not NAME.fullmatch(name) or name in OURS:
            value.at("link").problem(f'"{name}" cannot be in a link: names are like STUDY_ID.')
    if len(names) > MAX_NAMES or len({*names}) < len(names):
        value.at("link").problem(f'"link" takes {MAX_NAMES} names at most, each once.')
    returns: dict[Outcome, str] = {}
    screened = value.at("screened_out")
    if value.has("screened_out"):
        if isinstance(screened.content, dict):
            screened.only(SCREENS)
        else:
            screened.problem(f"write {', '.join(SCREENS)} here, each with an address or code.")
    for outcome in get_args(Outcome):
        place = screened if outcome in SCREENS else value
        if outcome != "closed" and place.has(outcome):
            returns[outcome] = _back(place.at(outcome), outcome, names)
    return Panel(tuple(names), returns, _signed(value, folder) if value.has("signed") else None)


def _signed(panel: Value, folder: Path) -> Signed | None:
    """Read how the panel signs; its keys lie in a file of the test's folder."""
    value = panel.at("signed")
    if not isinstance(value.content, dict):
        value.problem(f"write {', '.join(SIGNED)} here.")
        return None
    value.only(SIGNED)
    value.take("keys", str)
    file = inside(folder, value.at("keys"), "keys")
    keys: Any = None
    try:
        if file.stat().st_size <= MAX_KEYS:
            keys = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        pass
    if not isinstance(keys, dict) or not isinstance(keys.get("keys"), list):
        value.at("keys").problem(
            '"keys" must be a file next to this one that holds the panel\'s public keys, as in '
            "jwks.json."
        )
        return None
    audience = value.take("audience", str) if value.has("audience") else None
    return Signed(value.take("name", str), keys, audience)


def read_raters(document: Value) -> int | None:
    """Read how many raters are asked for; None for any number."""
    if not document.has("raters"):
        return None
    number = document.take("raters", int)
    if number < 1:
        document.at("raters").problem('"raters" must be 1 or more.')
    return number


def read_closes(document: Value) -> datetime | None:
    """Read when the test closes, with its time zone; None for never."""
    if not document.has("closes"):
        return None
    text = document.take("closes", str)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        document.at("closes").problem(
            f'"closes" must be a time with its zone, as 2027-01-31T18:00Z, and is {text}.'
        )
        return None
    return time


def _back(value: Value, name: str, names: list[str]) -> str:
    """Read the address or code that is written there."""
    # Codes may look like numbers.
    text = str(value.content) if type(value.content) is int else value.be(str, name)
    if unknown := [gap for gap in GAP.findall(text) if gap not in names]:
        value.problem(f'"{{{unknown[0]}}}" is not among the names of "link".')
    if len(text) > MAX_LENGTH or not (CODE.fullmatch(text) or ADDRESS.fullmatch(text)):
        value.problem(f'"{name}" must be an address (https://…) or a code of letters and digits.')
    return text
