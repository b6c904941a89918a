"""Sound search: a text or a sound → ranked sounds of a library, and where in them they match."""

from typing import TYPE_CHECKING

import lazy_loader

# Loaded when first used, for torch takes seconds to import.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "ranking": ["Hit", "SearchResult", "list_sounds"],
        "system": ["SoundSearch"],
    },
)

if TYPE_CHECKING:
    from earshot.systems.sound_search.ranking import Hit as Hit
    from earshot.systems.sound_search.ranking import SearchResult as SearchResult
    from earshot.systems.sound_search.ranking import list_sounds as list_sounds
    from earshot.systems.sound_search.system import SoundSearch as SoundSearch
