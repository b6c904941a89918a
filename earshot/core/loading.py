"""Load something when it is first asked for, and share it with whoever asks later."""

import threading
from collections.abc import Callable
from functools import cache
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def once(load: Callable[P, T]) -> Callable[P, T]:
    """Load at the first call, and give the same from then on, whoever asks meanwhile."""
    lock, loaded = threading.Lock(), cache(load)

    def get(*args: P.args, **kwargs: P.kwargs) -> T:
        with lock:
            return loaded(*args, **kwargs)

    return get
