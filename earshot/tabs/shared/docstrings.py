"""Docstrings of endpoints, taken apart."""

import inspect
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Doc(NamedTuple):
    """A docstring taken apart; of parameters and returns: name → what it says."""

    summary: str
    parameters: dict[str, str]
    returns: dict[str, str]


def read_docstring(function: Callable, returns: Sequence[str]) -> Doc:
    """Take apart a docstring with Args: and Returns:, whose entries, "name: what it is", may go on
    for several lines. returns: the names of what the function returns."""
    text = inspect.getdoc(function) or ""
    head, _, rest = text.partition("\nArgs:")
    given, _, returned = rest.partition("\nReturns:")
    parameters = list(inspect.signature(function).parameters)
    return Doc(" ".join(head.split()), _entries(given, parameters), _entries(returned, returns))


def _entries(section: str, names: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        start, colon, rest = line.strip().partition(":")
        if colon and start in names:
            name, found[start] = start, rest.strip()
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found
