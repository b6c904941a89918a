"""Collections of sounds that a visitor keeps: their content, and what a browser had kept."""

from collections.abc import Mapping, Sequence
from typing import Final

from earshot.core.errors import InputError

MAX_COLLECTIONS: Final = 50  # collections
MAX_SOUNDS: Final = 1000  # of one
MAX_CHARACTERS: Final = 60  # of a name
NO_NAME: Final = "Give the collection a name first."
TOO_MANY: Final = f"There is room for {MAX_COLLECTIONS} collections. Delete one first."
FULL: Final = f"There is room for {MAX_SOUNDS:,} sounds in a collection. Begin another."

Collections = Mapping[str, Sequence[str]]  # name → ids of sounds, in the order they were kept


def restored(kept: object) -> Collections:
    """Read what a browser had kept, without what cannot be a collection: it can be anything."""
    if not isinstance(kept, dict):
        return {}
    return {
        name[:MAX_CHARACTERS]: tuple(i[:MAX_CHARACTERS] for i in ids if isinstance(i, str))[
            :MAX_SOUNDS
        ]
        for name, ids in list(kept.items())[:MAX_COLLECTIONS]
        if isinstance(name, str) and isinstance(ids, list)
    }


def toggled(collections: Collections, name: str, sound_id: str) -> Collections:
    """Put the sound into the collection, or take it out if it was there; an empty one is no more.

    Raises InputError for a collection without a name, and where there is no room.
    """
    name = plain(name)
    if not name:
        raise InputError(NO_NAME)
    ids = collections.get(name, ())
    if sound_id in ids:
        ids = tuple(other for other in ids if other != sound_id)
    elif len(ids) == MAX_SOUNDS:
        raise InputError(FULL)
    else:
        ids = (*ids, sound_id)
    if name not in collections and len(collections) == MAX_COLLECTIONS:
        raise InputError(TOO_MANY)
    return {other: kept for other, kept in {**collections, name: ids}.items() if kept}


def plain(name: str) -> str:
    """Write the name as it is kept."""
    return " ".join(name.split())[:MAX_CHARACTERS]
