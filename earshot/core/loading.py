"""Load something at the first call, and share it with all later ones.

One call with the same arguments loads, and others wait for it; those with others do not.
"""

import threading
from collections.abc import Callable, Hashable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
# Large libraries, whose parts import each other, and of which models of every kind load some.
LIBRARIES: Final = ("scipy.special", "scipy.signal", "scipy.optimize", "torch")
_importing = threading.Lock()


def once(load: Callable[P, T]) -> Callable[P, T]:
    """Make a function that loads at its first call only, whichever thread calls it."""
    locks: dict[Hashable, threading.Lock] = {}
    loaded = cache(load)

    def get(*args: P.args, **kwargs: P.kwargs) -> T:
        import_libraries()
        with locks.setdefault((args, *kwargs.items()), threading.Lock()):
            return loaded(*args, **kwargs)

    return get


def import_libraries() -> None:
    """Import LIBRARIES in one thread, while others wait. Python gives threads that import parts of
    a package at the same time modules that are half made, and torch that failed so fails for good:
    nobody who came in the first seconds would have an answer."""
    with _importing:
        for name in LIBRARIES:
            if find_spec(name.partition(".")[0]):
                import_module(name)
