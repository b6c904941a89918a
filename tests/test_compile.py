"""What Numba compiles is compiled before the first visitor needs it."""

from collections.abc import Iterator
from importlib import import_module

from numba.core.dispatcher import Dispatcher

from earshot.core.paths import ROOT
from scripts import compile as compiling

BENCHMARKS_ONLY = {"subsequence_means"}


def compiled_functions() -> Iterator[Dispatcher]:
    """Those that the app compiles: every @njit of media and systems."""
    for package in ("media", "systems"):
        for path in (ROOT / "earshot" / package).rglob("*.py"):
            if "@njit" in path.read_text():
                module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
                yield from (v for v in vars(module).values() if isinstance(v, Dispatcher))


def test_everything_is_compiled_after_installing() -> None:
    """Everything that the app compiles is compiled then."""
    functions = [f for f in compiled_functions() if f.py_func.__name__ not in BENCHMARKS_ONLY]
    assert len(functions) >= 3
    compiling.main()
    assert [f.py_func.__name__ for f in functions if not f.signatures] == []
