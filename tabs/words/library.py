"""The library of words, opened once for all visitors, when first asked for."""

import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.words import Words
    from pipelines.words.library import WordLibrary


def library_getter(pipeline: Callable[[], "Words"], index: Path) -> Callable[[], "WordLibrary"]:
    """Gives the library in the folder `index`, whose vectors are of this pipeline's model.

    Raises InputError where it is missing, damaged, or of another model.
    """
    lock = threading.Lock()

    @cache
    def load() -> "WordLibrary":
        from pipelines.words.library import WordLibrary  # late, for it loads torch

        return WordLibrary.open(index, pipeline().fingerprint)

    def get() -> "WordLibrary":
        with lock:
            return load()

    return get
