"""How a rater's sitting goes: the test of their room, breaks, and systems in blocks."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from earshot.study.design.yaml_lines import Value

Blocks = Literal["systems"]

KEYS: Final = ("pairs", "right")
MIN_PAIRS, MAX_PAIRS = 2, 10  # pairs of the test of the room


@dataclass(frozen=True)
class RoomTest:
    """The test of a rater's room (sounds.checks): of so many pairs, so many must
    be told apart."""

    pairs: int = 4
    right: int = 3


def read_environment(document: Value) -> RoomTest | None:
    """Read the test of the room: none where it is not written, or false; the usual one for true."""
    if not document.has("environment"):
        return None
    value = document.at("environment")
    if isinstance(value.content, bool):
        return RoomTest() if value.content else None
    if not isinstance(value.content, dict):
        value.problem(f"write true here, or {' and '.join(KEYS)}.")
        return None
    value.only(KEYS)
    pairs = value.take("pairs", int, RoomTest.pairs)
    right = value.take("right", int, RoomTest.right)
    if not MIN_PAIRS <= pairs <= MAX_PAIRS:
        value.at("pairs").problem(f'"pairs" must be {MIN_PAIRS} to {MAX_PAIRS}.')
    if not 1 <= right <= pairs:
        value.at("right").problem('"right" must be 1 to as many as there are pairs.')
    return RoomTest(pairs, right)


def read_breaks(document: Value) -> int | None:
    """Read after how many trials raters are asked to rest; None: never."""
    if not document.has("break_every"):
        return None
    every = document.take("break_every", int)
    if every < 1:
        document.at("break_every").problem('"break_every" must be 1 or more trials.')
    return max(every, 1)


def read_blocks(document: Value) -> Blocks | None:
    """Read whether a rater gets the trials of each system, or pair of systems, in a block."""
    if not document.has("blocks"):
        return None
    blocks = document.take("blocks", str)
    if blocks not in get_args(Blocks):
        document.at("blocks").problem(f'"blocks" must be {" or ".join(get_args(Blocks))}.')
        return None
    return blocks
