"""Loading something once, whichever thread asks first."""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

from earshot.core import loading

# A library whose parts import each other, as those of SciPy and torch do.
PARTS = {
    "__init__.py": "import time; time.sleep(0.3); from slow_library.part import VALUE",
    "part.py": "import slow_library, time; time.sleep(0.1); VALUE = 1",
}


@pytest.fixture
def slow_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "slow_library"
    folder.mkdir()
    for name, text in PARTS.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder.name
    for name in [name for name in sys.modules if name.startswith(folder.name)]:
        del sys.modules[name]


def test_libraries_are_imported_by_one_thread(
    slow_library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the first thread finds half a module: Python breaks off its wait for the other."""
    monkeypatch.setattr(loading, "LIBRARIES", (slow_library, "no_such_library.part"))
    whole = loading.once(lambda: import_module(slow_library).VALUE)
    part = loading.once(lambda: import_module(f"{slow_library}.part").VALUE)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(whole)
        time.sleep(0.1)
        assert (threads.submit(part).result(), first.result()) == (1, 1)


def test_loads_once_for_each_argument() -> None:
    calls: list[int] = []
    load = loading.once(lambda number: calls.append(number) or -number)
    with ThreadPoolExecutor() as threads:
        assert list(threads.map(load, [1, 2, 1, 2])) == [-1, -2, -1, -2]
    assert sorted(calls) == [1, 2]
