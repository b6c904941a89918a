"""The links by which raters come: an invitation for one of them, a preview for the organiser, or
the link of a panel. All rest on the test's key, which no rater knows, and need no table.

The same invitations are printed whenever one asks for them, and a link that is made up is refused.
What a panel's link holds about a rater is stored as keyed hashes, from which nobody gets back.
"""

import base64
import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import jwt

from earshot.core.errors import InputError
from earshot.study.design.raters import Panel

NO_ADDRESS: Final = "{address} is no address of a server: write it as https://example.org."
INVITED_ONLY: Final = "This test is for invited raters. Open it by the link that was sent to you."
MAX_INVITED: Final = 10_000
SIGNATURE_BYTES: Final = 18  # of a signature, 24 characters
PREVIEW_PREFIX: Final = "preview-"  # of tokens
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
GAP_BRACKETS: Final = re.compile(r"[{}\[\]<>%$]|^(\*.*\*|#.*#|__\w{1,16}__)$")
UNFILLED_WORDS: Final = ("undefined", "null", "(null)", "none", "nan", "n/a", "anonymous")
MTURK_PREVIEW: Final = "ASSIGNMENT_ID_NOT_AVAILABLE"  # what it says while a worker only looks
SIGNATURE_ALGORITHMS: Final = ("RS256", "ES256")


def invitation_token(key: str, number: int) -> str:
    """Sign the number, from 1, of an invited rater for their link.

    key: the test's, which no rater knows.
    """
    signature = hmac.digest(key.encode(), f"invited {number}".encode(), "sha256")[:SIGNATURE_BYTES]
    return f"{number}-{base64.urlsafe_b64encode(signature).decode()}"


def is_invited(key: str, token: str | None) -> bool:
    """Whether a token is that of an invitation."""
    number = (token or "").partition("-")[0]
    if not (number.isascii() and number.isdigit() and len(number) <= len(str(MAX_INVITED))):
        return False
    return secrets.compare_digest(
        (token or "").encode(), invitation_token(key, int(number)).encode()
    )


def server_address(address: str) -> str:
    """Return the address of a server as links begin with it. Raises InputError for what is none, or
    holds more than a path."""
    try:
        url = urlsplit(address)
        fits = url.scheme in ("http", "https") and url.hostname and url.port != 0
    except ValueError:  # of a port, or brackets
        fits = False
    if not fits or any(mark in address for mark in "?# ") or not address.isprintable():
        raise InputError(NO_ADDRESS.format(address=address))
    return address.rstrip("/")


def invitation_links(address: str, name: str, key: str, number: int) -> list[str]:
    """Write the links of so many raters of the test of that name, served at the address."""
    base = f"{server_address(address)}/listen/{name}?rater="
    return [base + invitation_token(key, each) for each in range(1, number + 1)]


def preview_token(key: str) -> str:
    """Make a preview's token, which only the owner of the test's key can make."""
    number = secrets.token_hex(8)
    return f"{PREVIEW_PREFIX}{number}-{_preview_proof(key, number)}"


def is_preview(key: str, token: str | None) -> bool:
    """Whether the token is one of the test with this key."""
    number, _, proof = (token or "").removeprefix(PREVIEW_PREFIX).partition("-")
    whole = (token or "").startswith(PREVIEW_PREFIX)
    return whole and secrets.compare_digest(proof.encode(), _preview_proof(key, number).encode())


def _preview_proof(key: str, number: str) -> str:
    return hmac.digest(key.encode(), f"preview {number}".encode(), "sha256").hex()[:24]


def is_gap(value: str, name: str = "") -> bool:
    """Whether a link's value under that name is an unfilled gap, and so no rater's
    number.
    """
    text = value.strip()
    unsaid = text.lower() in (*UNFILLED_WORDS, name.lower()) or text == MTURK_PREVIEW
    return unsaid or GAP_BRACKETS.search(text) is not None


def signed_values(panel: Panel, signature: str | None) -> dict[str, str]:
    """Read what the panel signed of a member (a JSON Web Token) → the values by the names of its
    link. They may lie in a claim of the panel's own, as Prolific's do.

    Raises InputError where the signature is not the panel's, is too old, or is for another server.
    """
    assert panel.signed
    try:
        keys = jwt.PyJWKSet.from_dict(dict(panel.signed.keys)).keys
        header = jwt.get_unverified_header(signature or "")
        key = next(each for each in keys if each.key_id in (None, header.get("kid")))
        claims = jwt.decode(
            signature or "",
            key,
            algorithms=[*SIGNATURE_ALGORITHMS],
            audience=panel.signed.audience,
            options={"require": ["exp"], "verify_aud": panel.signed.audience is not None},
        )
    except (jwt.PyJWTError, StopIteration) as error:
        raise InputError(NOT_SIGNED) from error
    texts = dict(_texts(claims))
    return {name: texts[name] for name in panel.link if name in texts}


def _texts(claims: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List all texts among the claims, and in those that hold others."""
    inner = [each for value in claims.values() if isinstance(value, dict) for each in _texts(value)]
    return inner + [(name, value) for name, value in claims.items() if isinstance(value, str)]


def panel_token(panel: Panel, key: str, values: Mapping[str, str]) -> str:
    """Compute the token of the rater whose link holds these values: the same whenever they come by
    it.

    Raises InputError where the name that distinguishes raters is missing, or the panel has not
    filled it in.
    """
    first = panel.link[0]
    if not values.get(first):
        raise InputError(NOT_OF_PANEL)
    if is_gap(values[first], first):
        raise InputError(UNFILLED)
    digest = hmac.digest(key.encode(), f"rater {first}={values[first]}".encode(), "sha256")
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def panel_hashes(panel: Panel, key: str, values: Mapping[str, str]) -> dict[str, str]:
    """Compute HMAC-SHA256 of "NAME=value" with the test's key, the first 32 hex digits, for every
    name that the panel adds: with the key one can find a member's ratings, and nobody else can.
    """
    filled = {name: values[name] for name in panel.link if values.get(name)}
    return {n: keyed_hash(key, n, value) for n, value in filled.items() if not is_gap(value, n)}


def keyed_hash(key: str, name: str, value: str) -> str:
    """Compute the keyed hash of one value."""
    return hmac.digest(key.encode(), f"{name}={value}".encode(), "sha256").hex()[:32]
