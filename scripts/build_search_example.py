"""Build the finished search that the sound search tab shows first, and the vectors of what is
written of the shipped sounds.

Run as `python -m scripts.build_search_example`; needs the trained checkpoints and the index of
assets/sounds.
"""

from typing import Final

from earshot.core.paths import ASSETS
from earshot.sound_index.descriptions import write
from earshot.sound_index.index import SoundIndex
from earshot.systems.sound_search import SoundSearch
from earshot.systems.sound_search.encoder import EarshotEncoder
from earshot.tabs.sound_search.events import PAGE_SOUNDS, write_finished

QUERY: Final = "a fire crackles while a clock ticks"


def main() -> None:
    search = SoundSearch.from_pretrained(device="cpu")
    index = SoundIndex.open(ASSETS / "sounds.index", search.encoder)
    assert isinstance(search.encoder, EarshotEncoder)
    write(index.sounds, search.encoder.embed_sentences)
    search(index, QUERY)  # warm-up: the time shown is that of the second search
    write_finished(QUERY, search(index, QUERY, limit=PAGE_SOUNDS), search.encoder.fingerprint)


if __name__ == "__main__":
    main()
