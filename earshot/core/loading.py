"""Load something at the first call, and share it with all later ones."""

import threading
from collections.abc import Callable
from functools import cache
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def once(load: Callable[P, T]) -> Callable[P, T]:
    """Make a function that loads at its first call only, whichever thread calls it."""
    lock, loaded = threading.Lock(), cache(load)

    def get(*args: P.args, **kwargs: P.kwargs) -> T:
        with lock:
            return loaded(*args, **kwargs)

    return get
