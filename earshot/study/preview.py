"""A whole test for its organiser to try: as it is for raters, but nothing of it is stored."""

import hmac
import secrets
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from earshot.study.design import Test
from earshot.study.library import Opened
from earshot.study.storage.database import MEMORY
from earshot.study.storage.raters import Rater
from earshot.study.storage.store import Store

BEGINS: Final = "preview-"  # of tokens
MAX_RATERS: Final = 20  # of a test, then all are forgotten


def new_token(key: str) -> str:
    """Make a preview's token, which only the owner of the test's key can make."""
    number = secrets.token_hex(8)
    return f"{BEGINS}{number}-{_proof(key, number)}"


def is_preview(key: str, token: str | None) -> bool:
    """Say whether the token is one of the test with this key."""
    number, _, proof = (token or "").removeprefix(BEGINS).partition("-")
    whole = (token or "").startswith(BEGINS)
    return whole and secrets.compare_digest(proof.encode(), _proof(key, number).encode())


def previewed(opened: Opened) -> Test:
    """Change the test to one that a preview takes: never full or closed, and called by its key, for
    a test that is opened later may have its name.
    """
    return replace(opened.test, name=opened.key, raters=None, closes=None)


class Previews(Store):
    """A store in memory, which forgets."""

    def __init__(self) -> None:
        super().__init__(MEMORY)
        self._enrolling = threading.Lock()

    def enrol(
        self,
        test: Test,
        token: str | None = None,
        panel: Mapping[str, str] | None = None,
        language: str | None = None,
        device: str | None = None,
        claim: str | None = None,
    ) -> Rater:
        """Enrol a rater as Store.enrol does."""
        with self._enrolling:  # or two who come first would delete each other
            if not 0 < self.raters(test.name) < MAX_RATERS:
                self.delete(test.name)
                self.open(test)
            return super().enrol(test, token, panel, language, device, claim)


def _proof(key: str, number: str) -> str:
    return hmac.digest(key.encode(), f"preview {number}".encode(), "sha256").hex()[:24]
