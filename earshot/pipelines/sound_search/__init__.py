"""Sound search: a text or a sound → ranked sounds of a library, and where in them they match.

Rooms, each of which imports only those before it: sources, library, encoders, languages, indexing,
search. Buckets, the index on the disk and Ray are optional extras: sources/bucket.py,
library/disk.py and indexing/cluster.py are imported only where they are asked for.
"""

from typing import TYPE_CHECKING

import lazy_loader

# Loaded when first used, for torch takes seconds to import.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "indexing.index": ["SoundIndex"],
        "search.export": ["labels_csv", "results_zip"],
        "search.listing": ["listed"],
        "search.pipeline": ["SoundSearch"],
        "search.result": ["Hit", "SearchResult"],
    },
)

if TYPE_CHECKING:
    from earshot.pipelines.sound_search.indexing.index import SoundIndex as SoundIndex
    from earshot.pipelines.sound_search.search.export import labels_csv as labels_csv
    from earshot.pipelines.sound_search.search.export import results_zip as results_zip
    from earshot.pipelines.sound_search.search.listing import listed as listed
    from earshot.pipelines.sound_search.search.pipeline import SoundSearch as SoundSearch
    from earshot.pipelines.sound_search.search.result import Hit as Hit
    from earshot.pipelines.sound_search.search.result import SearchResult as SearchResult
