"""Seeded damage: what transfers, cut-off recordings and attackers do to files and requests."""

import json
import random
import struct
from typing import Any, Final

# Numbers at which lengths, counts and signs go wrong, little and big endian.
EDGES: Final = tuple(
    value.to_bytes(size, order)
    for size in (1, 2, 4)
    for value in (0, 1, 2 ** (8 * size - 1) - 1, 2 ** (8 * size - 1), 2 ** (8 * size) - 1)
    for order in ("little", "big")
)
HEAD: Final = 400  # bytes in which most of the structure lies
# Values that a program in Python, and a database behind it, may not expect in a request.
VALUES: Final = (
    *(None, True, False, -1, 0, 2**31, 2**63, 10**400, -0.5, 1e999, float("nan")),
    *("", "a", "\0", "\ud800", "é" * 200, "1" * 20_000, "../../etc/passwd", "' OR 1=1 --"),
    *([], {}, [[]], [0] * 500, {"": None}, [None, "a", 1]),
)
# What patterns, sorts and paths may be slow at, where it repeats.
REPEATS: Final = (
    *("a", "a ", "a;", "a,", "/a", "../", "-", "%", "\\", '"', "1", "not a ", "a and ", "data:"),
    *("\u0301\u0316", "a\u0301", "\ufdfa", "\uff9e", "\u4e2d", "\U0001f600"),
)
REPEATED: Final = 100_000  # characters
DEEP: Final = 900  # lists within lists
OGG_PAGE: Final = b"OggS"
OGG_HEADER: Final = 27  # bytes before the lengths of its segments
OGG_CHECKSUM: Final = slice(22, 26)
OGG_POLYNOMIAL: Final = 0x04C11DB7


def mutated(data: bytes, random_state: random.Random) -> bytes:
    """The data with one to sixteen places damaged. The same state gives the same damage."""
    damaged = bytearray(data)
    for _ in range(random_state.choice((1, 1, 2, 4, 16))):
        random_state.choice(DAMAGE)(damaged, random_state)
        if not damaged:
            break
    return bytes(damaged)


def mutated_json(data: bytes, random_state: random.Random) -> bytes:
    """The JSON with one to three values replaced, removed, repeated or put deep into lists, so that
    it can still be parsed, and what reads it is reached."""
    document = json.loads(data)
    for _ in range(random_state.choice((1, 1, 2, 3))):
        document = _changed(document, random_state)
    return json.dumps(document).encode()


def with_ogg_checksums(data: bytes) -> bytes:
    """The data with the checksum of every Ogg page put right: decoders skip damaged pages, and
    would never see the damage in them."""
    sealed, place = bytearray(data), 0
    while (place := sealed.find(OGG_PAGE, place)) >= 0:
        lengths = place + OGG_HEADER
        if lengths > len(sealed):
            break
        body = lengths + sealed[lengths - 1]
        end = body + sum(sealed[lengths:body])
        page = sealed[place:end]
        page[OGG_CHECKSUM] = bytes(4)
        start = place + OGG_CHECKSUM.start
        sealed[start : start + 4] = struct.pack("<I", _ogg_checksum(page))
        place += len(OGG_PAGE)
    return bytes(sealed)


def _ogg_checksum(page: bytes | bytearray) -> int:
    checksum = 0
    for byte in page:
        checksum = (checksum << 8 & 0xFFFFFFFF) ^ OGG_TABLE[checksum >> 24 ^ byte]
    return checksum


def _ogg_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = (value << 1) ^ (OGG_POLYNOMIAL if value & 1 << 31 else 0)
        table.append(value & 0xFFFFFFFF)
    return tuple(table)


OGG_TABLE: Final = _ogg_table()


def _changed(value: Any, state: random.Random) -> Any:
    """The value with one place in it changed; the deeper, the likelier."""
    if value and isinstance(value, dict | list) and state.random() < 0.9:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key, copy = state.choice(keys), value.copy()
        if state.random() < 0.15:
            del copy[key]
        elif isinstance(copy, dict) and state.random() < 0.1:
            copy[str(state.choice(VALUES))] = value[key]
        else:
            copy[key] = _changed(value[key], state)
        return copy
    if state.random() < 0.1:
        return [value] * state.randint(0, 40)
    if state.random() < 0.1:
        part = state.choice(REPEATS)
        return part * (REPEATED // len(part))
    if state.random() < 0.05:
        return json.loads("[" * DEEP + "]" * DEEP)
    return state.choice(VALUES)


def _place(data: bytearray, state: random.Random) -> int:
    end = min(len(data), HEAD) if state.random() < 0.5 else len(data)
    return state.randrange(end)


def _flip_bit(data: bytearray, state: random.Random) -> None:
    data[_place(data, state)] ^= 1 << state.randrange(8)


def _random_bytes(data: bytearray, state: random.Random) -> None:
    place = _place(data, state)
    for offset in range(place, min(len(data), place + state.randint(1, 16))):
        data[offset] = state.randrange(256)


def _edge_number(data: bytearray, state: random.Random) -> None:
    place, number = _place(data, state), state.choice(EDGES)
    data[place : place + len(number)] = number


def _cut_end(data: bytearray, state: random.Random) -> None:
    del data[_place(data, state) :]


def _remove(data: bytearray, state: random.Random) -> None:
    place = _place(data, state)
    del data[place : place + state.randint(1, 200)]


def _repeat(data: bytearray, state: random.Random) -> None:
    place = _place(data, state)
    data[place:place] = data[place : place + state.randint(1, 200)] * state.choice((1, 2, 20))


def _swap(data: bytearray, state: random.Random) -> None:
    one, other = sorted((_place(data, state), _place(data, state)))
    size = min(state.randint(1, 200), other - one, len(data) - other)
    data[one : one + size], data[other : other + size] = (
        data[other : other + size],
        data[one : one + size],
    )


def _zeros(data: bytearray, state: random.Random) -> None:
    place = _place(data, state)
    size = min(state.randint(1, 400), len(data) - place)
    data[place : place + size] = bytes(size)


DAMAGE: Final = (
    _flip_bit,
    _random_bytes,
    _edge_number,
    _cut_end,
    _remove,
    _repeat,
    _swap,
    _zeros,
)
