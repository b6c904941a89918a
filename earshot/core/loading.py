"""Load something at the first call, and share it with all later ones.

One call with the same arguments loads, and others wait for it; those with others do not.
"""

import threading
from collections.abc import Callable, Hashable
from functools import cache
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def once(load: Callable[P, T]) -> Callable[P, T]:
    """Make a function that loads at its first call only, whichever thread calls it."""
    locks: dict[Hashable, threading.Lock] = {}
    loaded = cache(load)

    def get(*args: P.args, **kwargs: P.kwargs) -> T:
        with locks.setdefault((args, *kwargs.items()), threading.Lock()):
            return loaded(*args, **kwargs)

    return get
