"""The text of a query, checked without a model: imports no torch."""

from typing import Final

from earshot.core.errors import InputError
from earshot.systems.sound_search.languages.translation import MAX_CHARACTERS

NONE_LEFT: Final = "No sound passes these filters. Loosen them, or empty them."


def clean(text: str) -> str:
    """Take off lone surrogates, which cannot be encoded, and surrounding white space."""
    return text.encode("utf-8", "ignore").decode().strip()


def check(text: str) -> None:
    """Check a text. Raises InputError for one that is too long, and for one without words."""
    check_length(text)
    if not any(character.isalnum() for character in text):
        raise InputError(
            "There are no words in this. Describe the sound, “a dog barks” for example."
        )


def check_length(text: str) -> None:
    """Check the length of a text. Raises InputError for one that is too long."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"This is too long ({len(text):,} characters). "
            f"Describe the sound in {MAX_CHARACTERS:,} characters or fewer."
        )
