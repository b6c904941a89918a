"""The library of words, opened on first use and shared by all visitors."""

import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from earshot.pipelines.words import Words
    from earshot.pipelines.words.library import WordLibrary


def library_getter(pipeline: Callable[[], "Words"], index: Path) -> Callable[[], "WordLibrary"]:
    """Make a function that returns the library in the folder ``index``.

    It raises InputError where the library is missing or damaged, or was made by another model.
    """
    lock = threading.Lock()

    @cache
    def load() -> "WordLibrary":
        from earshot.pipelines.words.library import WordLibrary  # late, for it loads torch

        return WordLibrary.open(index, pipeline().fingerprint)

    def get() -> "WordLibrary":
        with lock:
            return load()

    return get
