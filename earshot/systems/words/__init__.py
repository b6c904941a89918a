"""Acoustic word embeddings: spoken and written words as vectors in one space."""

from typing import TYPE_CHECKING

import lazy_loader

# Loaded when first used, for torch takes seconds to import.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "system": ["Guess", "Neighbour", "Spoken", "Words", "Written"],
    },
)

if TYPE_CHECKING:
    from earshot.systems.words.system import Guess as Guess
    from earshot.systems.words.system import Neighbour as Neighbour
    from earshot.systems.words.system import Spoken as Spoken
    from earshot.systems.words.system import Words as Words
    from earshot.systems.words.system import Written as Written
