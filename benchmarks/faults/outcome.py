"""The outcome of a fault that was tried."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """A row of the table. seen: what raters or visitors were told; holds: whether all went as it
    should."""

    fault: str
    seen: str
    after: str
    holds: bool
