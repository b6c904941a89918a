"""Sound search: a text or a sound → ranked sounds of a library, and where in them they match."""

from typing import TYPE_CHECKING

import lazy_loader

# Loaded when first used, for torch takes seconds to import.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"pipeline": ["Hit", "SearchResult", "SoundSearch", "labels_csv"]}
)

if TYPE_CHECKING:
    from pipelines.sound_search.pipeline import Hit as Hit
    from pipelines.sound_search.pipeline import SearchResult as SearchResult
    from pipelines.sound_search.pipeline import SoundSearch as SoundSearch
    from pipelines.sound_search.pipeline import labels_csv as labels_csv
