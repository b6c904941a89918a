"""Sound search: a text or a sound → ranked sounds of a library, and where in them they match."""

from typing import TYPE_CHECKING

import lazy_loader

# Loaded when first used, for torch takes seconds to import.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "export": ["labels_csv", "results_zip"],
        "listing": ["listed"],
        "pipeline": ["SoundSearch"],
        "result": ["Hit", "SearchResult"],
    },
)

if TYPE_CHECKING:
    from earshot.pipelines.sound_search.export import labels_csv as labels_csv
    from earshot.pipelines.sound_search.export import results_zip as results_zip
    from earshot.pipelines.sound_search.listing import listed as listed
    from earshot.pipelines.sound_search.pipeline import SoundSearch as SoundSearch
    from earshot.pipelines.sound_search.result import Hit as Hit
    from earshot.pipelines.sound_search.result import SearchResult as SearchResult
