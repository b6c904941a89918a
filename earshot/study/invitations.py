"""Links for raters who are invited one by one: each lets one rater in, once.

They are signed with the test's key and need no table: the same ones are printed whenever they are
asked for, and a link that somebody makes up is refused.
"""

import base64
import hmac
import secrets
from typing import Final

NEEDED: Final = "This test is for invited raters. Open it by the link that was sent to you."
MAX_RATERS: Final = 10_000
BYTES: Final = 18  # of a signature, 24 characters


def token(key: str, number: int) -> str:
    """Sign what the link of the invited rater with this number, from 1, says of them.

    key: the test's, which no rater knows.
    """
    signature = hmac.digest(key.encode(), f"invited {number}".encode(), "sha256")[:BYTES]
    return f"{number}-{base64.urlsafe_b64encode(signature).decode()}"


def is_invited(key: str, given: str | None) -> bool:
    """Say whether a link is one of these."""
    number = (given or "").partition("-")[0]
    if not (number.isascii() and number.isdigit() and len(number) <= len(str(MAX_RATERS))):
        return False
    return secrets.compare_digest((given or "").encode(), token(key, int(number)).encode())


def links(address: str, name: str, key: str, number: int) -> list[str]:
    """Write the links of so many raters of the test of that name, served at the address."""
    base = f"{address.rstrip('/')}/listen/{name}?rater="
    return [base + token(key, each) for each in range(1, number + 1)]
