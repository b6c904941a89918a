"""What a panel's link says about a rater: kept as keyed hashes, from which nobody gets back."""

import base64
import hmac
from collections.abc import Mapping

from earshot.core.errors import InputError
from earshot.study.design.panel import Panel

NOT_OF_PANEL = "This test is for members of a panel: open it by the panel's own link."


def token(panel: Panel, key: str, said: Mapping[str, str]) -> str:
    """The token of the rater whose link said this: the same whenever they come by it.

    Raises InputError where the name that tells raters apart is missing.
    """
    first = panel.link[0]
    if not said.get(first):
        raise InputError(NOT_OF_PANEL)
    digest = hmac.digest(key.encode(), f"rater {first}={said[first]}".encode(), "sha256")
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def hashes(panel: Panel, key: str, said: Mapping[str, str]) -> dict[str, str]:
    """HMAC-SHA256 of "NAME=value" with the test's key, the first 32 hex digits, for every name that
    the panel adds: who has the key can find a member's ratings, and nobody else can."""
    return {name: hashed(key, name, said[name]) for name in panel.link if said.get(name)}


def hashed(key: str, name: str, value: str) -> str:
    """The keyed hash of one value."""
    return hmac.digest(key.encode(), f"{name}={value}".encode(), "sha256").hex()[:32]
