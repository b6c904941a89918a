"""Seeded damage: what transfers, cut-off recordings and attackers do to files."""

import random
from typing import Final

# Numbers at which lengths, counts and signs go wrong, little and big endian.
EDGES: Final = tuple(
    value.to_bytes(size, order)
    for size in (1, 2, 4)
    for value in (0, 1, 2 ** (8 * size - 1) - 1, 2 ** (8 * size - 1), 2 ** (8 * size) - 1)
    for order in ("little", "big")
)
HEAD: Final = 400  # bytes in which most of the structure lies


def mutated(data: bytes, random_state: random.Random) -> bytes:
    """The data with one to sixteen places damaged. The same state gives the same damage."""
    damaged = bytearray(data)
    for _ in range(random_state.choice((1, 1, 2, 4, 16))):
        random_state.choice(DAMAGE)(damaged, random_state)
        if not damaged:
            break
    return bytes(damaged)


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
