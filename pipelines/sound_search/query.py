"""The text of a query, without a model: imports no torch."""


def clean(text: str) -> str:
    """The text without lone surrogates, which cannot be encoded, and surrounding white space."""
    return text.encode("utf-8", "ignore").decode().strip()
