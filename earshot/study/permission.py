"""The permission to open tests on a server that anybody can visit."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from earshot.core.errors import InputError

SPACE: Final = "SPACE_ID"  # in the environment of a Space of Hugging Face's
NO_KEY: Final = (
    "Type the key of this server: only those who have it from its owner can open tests here."
)
NOBODY: Final = (
    "Nobody opens tests on this server but whoever runs it. Download yours, and serve it with "
    "python -m earshot study serve."
)


@dataclass(frozen=True)
class Permission:
    """The permission to open tests: for those with the key; without one for anybody, or nobody."""

    key: str | None = None
    anybody: bool = True

    @classmethod
    def of(cls, key: str | None, environment: Mapping[str, str]) -> "Permission":
        """Decide for a server with this key: on a Space, nobody opens tests without one."""
        return cls(key or None, anybody=SPACE not in environment)

    @property
    def possible(self) -> bool:
        """Say whether a visitor can open a test at all."""
        return self.key is not None or self.anybody

    def check(self, given: str) -> None:
        """Raise InputError for a visitor who may not open tests."""
        if self.key is None:
            if not self.anybody:
                raise InputError(NOBODY)
        elif not secrets.compare_digest(given.strip().encode(), self.key.encode()):
            raise InputError(NO_KEY)


ANYBODY: Final = Permission()
