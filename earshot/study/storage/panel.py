"""The values that a panel's link says about a rater: kept as keyed hashes, from which nobody gets
back.
"""

import base64
import hmac
import re
from collections.abc import Mapping
from typing import Any, Final

import jwt

from earshot.core.errors import InputError
from earshot.study.design.panel import Panel

NOT_OF_PANEL: Final = "This test is for members of a panel: open it by the panel's own link."
NOT_SIGNED: Final = (
    "The panel's signature in this link is missing, wrong or too old: open the test by the panel's "
    "own link once more."
)
UNFILLED: Final = (
    "This link is not complete: your panel should have put your number into it. Tell whoever sent "
    "it to you, who can then write the gap as the panel wants it."
)
# What a panel leaves where it does not fill a gap: {{%ID%}}, ${e://Field/ID}, [ID], %ID%, <ID>,
# *|ID|*, #ID#, __ID__ (shorter than a rater's token, whose letters may be such).
BRACKETS: Final = re.compile(r"[{}\[\]<>%$]|^(\*.*\*|#.*#|__\w{1,16}__)$")
NOTHING: Final = ("undefined", "null", "(null)", "none", "nan", "n/a", "anonymous")
TEST_OF_MTURK: Final = "ASSIGNMENT_ID_NOT_AVAILABLE"  # what it says while a worker only looks
ALGORITHMS: Final = ("RS256", "ES256")


def is_gap(value: str, name: str = "") -> bool:
    """Say whether a link's value under that name is an unfilled gap, and so no number of
    anybody's.
    """
    said = value.strip()
    unsaid = said.lower() in (*NOTHING, name.lower()) or said == TEST_OF_MTURK
    return unsaid or BRACKETS.search(said) is not None


def signed(panel: Panel, given: str | None) -> dict[str, str]:
    """Read what the panel signed of a member (a JSON Web Token) → the values by the names of its
    link. They may lie in a claim of the panel's own, as Prolific's do.

    Raises InputError where the signature is not the panel's, is too old, or is for another server.
    """
    assert panel.signed
    try:
        keys = jwt.PyJWKSet.from_dict(dict(panel.signed.keys)).keys
        header = jwt.get_unverified_header(given or "")
        key = next(each for each in keys if each.key_id in (None, header.get("kid")))
        claims = jwt.decode(
            given or "",
            key,
            algorithms=[*ALGORITHMS],
            audience=panel.signed.audience,
            options={"require": ["exp"], "verify_aud": panel.signed.audience is not None},
        )
    except (jwt.PyJWTError, StopIteration) as error:
        raise InputError(NOT_SIGNED) from error
    found = dict(_texts(claims))
    return {name: found[name] for name in panel.link if name in found}


def _texts(claims: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List all texts among the claims, and in those that hold others."""
    inner = [each for value in claims.values() if isinstance(value, dict) for each in _texts(value)]
    return inner + [(name, value) for name, value in claims.items() if isinstance(value, str)]


def token(panel: Panel, key: str, said: Mapping[str, str]) -> str:
    """Compute the token of the rater whose link said this: the same whenever they come by it.

    Raises InputError where the name that tells raters apart is missing, or the panel has not filled
    it in.
    """
    first = panel.link[0]
    if not said.get(first):
        raise InputError(NOT_OF_PANEL)
    if is_gap(said[first], first):
        raise InputError(UNFILLED)
    digest = hmac.digest(key.encode(), f"rater {first}={said[first]}".encode(), "sha256")
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def hashes(panel: Panel, key: str, said: Mapping[str, str]) -> dict[str, str]:
    """Compute HMAC-SHA256 of "NAME=value" with the test's key, the first 32 hex digits, for every
    name that the panel adds: with the key one can find a member's ratings, and nobody else can.
    """
    given = {name: said[name] for name in panel.link if said.get(name)}
    return {n: hashed(key, n, value) for n, value in given.items() if not is_gap(value, n)}


def hashed(key: str, name: str, value: str) -> str:
    """Compute the keyed hash of one value."""
    return hmac.digest(key.encode(), f"{name}={value}".encode(), "sha256").hex()[:32]
