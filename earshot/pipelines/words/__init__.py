"""Acoustic word embeddings: spoken and written words as vectors in one space."""

from typing import TYPE_CHECKING

import lazy_loader

# Loaded when first used, for torch takes seconds to import.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "pipeline": ["Words"],
        "result": ["Guess", "Neighbour", "Spoken", "Written"],
    },
)

if TYPE_CHECKING:
    from earshot.pipelines.words.pipeline import Words as Words
    from earshot.pipelines.words.result import Guess as Guess
    from earshot.pipelines.words.result import Neighbour as Neighbour
    from earshot.pipelines.words.result import Spoken as Spoken
    from earshot.pipelines.words.result import Written as Written
