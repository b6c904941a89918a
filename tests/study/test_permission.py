"""Who may open tests on a server that anybody can visit."""

import pytest

from earshot.core.errors import InputError
from earshot.study.library import Permission


def test_permission_off_a_space_is_anybodys() -> None:
    permission = Permission.of(None, {})
    assert permission.possible
    permission.check("")


def test_permission_without_key_is_nobodys() -> None:
    """It is so on a Space."""
    permission = Permission.of(None, {"SPACE_ID": "lab/earshot"})
    assert not permission.possible
    with pytest.raises(InputError, match="Download yours"):
        permission.check("")


@pytest.mark.parametrize("environment", [{}, {"SPACE_ID": "lab/earshot"}])
def test_permission_is_for_who_types_key(environment: dict[str, str]) -> None:
    permission = Permission.of("a-long-key", environment)
    permission.check(" a-long-key\n")
    for wrong in ("", "a-long-ke", "é"):
        with pytest.raises(InputError, match="Type the key"):
            permission.check(wrong)
