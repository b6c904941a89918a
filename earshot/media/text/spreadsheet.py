"""Text in tables that people open with a spreadsheet."""


def safe_cell(text: str) -> str:
    """Text that a spreadsheet would run as a formula gets an apostrophe."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
