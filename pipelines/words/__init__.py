"""Acoustic word embeddings: spoken and written words as vectors in one space."""

from typing import TYPE_CHECKING

import lazy_loader

# Loaded when first used, for torch takes seconds to import.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"pipeline": ["Guess", "Neighbour", "Spoken", "Words", "Written"]}
)

if TYPE_CHECKING:
    from pipelines.words.pipeline import Guess as Guess
    from pipelines.words.pipeline import Neighbour as Neighbour
    from pipelines.words.pipeline import Spoken as Spoken
    from pipelines.words.pipeline import Words as Words
    from pipelines.words.pipeline import Written as Written
