"""Files of sounds, embedded one after another, for an index."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.pipelines.sound_search import entries
from earshot.pipelines.sound_search.embedding import content_hash, embedded
from earshot.pipelines.sound_search.encoders.encoder import SoundEncoder
from earshot.pipelines.sound_search.large.bucket import UnreachableError, fetched
from earshot.pipelines.sound_search.large.hashes import Hashes
from earshot.pipelines.sound_search.library import Description, Entry, Library, Sound

Progress = Callable[[int, int, str], None]  # files done, files in all, name of the next one
Captions = Mapping[str, Description]  # by the name of the file


def read(
    library: Library,
    encoder: SoundEncoder,
    paths: Iterable[str | Path],
    captions: Captions | None = None,
    progress: Progress | None = None,
    cache: Path | None = None,
    hashes: Hashes | None = None,
) -> Iterator[tuple[Path, Entry | None, str]]:
    """The entry of each file, or None and why it cannot be used. Arguments as of
    ``SoundIndex.add``.

    A file that the library holds keeps its id, and what is known of it.
    """
    files = list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))
    known: dict[str, Entry] = {}  # by the hash of the content; with a cache, that knows
    hashes = {} if hashes is None else hashes
    taken: set[str] = set()
    for number, path in enumerate(files):
        cancellation.check()
        if progress:
            progress(number, len(files), path.name)
        try:
            digest = hashes.get(path)
            entry = _held(library, digest, known, cache) if digest else None
            if not (digest and entry):
                with fetched(path) as file:
                    digest = content_hash(file)
                    entry = _held(library, digest, known, cache)
                    entry = entry or _embed(encoder, file, digest, cache)
                hashes[path] = digest
        except UnreachableError:
            raise
        except (InputError, OSError) as error:
            yield path, None, getattr(error, "strerror", None) or str(error)
            continue
        if cache is None:
            known[digest] = entry
        old = library.at(path)
        if old and old.content_hash == digest:
            sound_id, known_as = old.id, old.description
        else:
            sound_id, known_as = _new_id(library, digest, path.name, taken), Description()
            taken.add(sound_id)
        about = (captions or {}).get(path.name, known_as)
        fields = {**about._asdict(), "seconds": entry.sound.seconds, "content_hash": digest}
        sound = Sound(sound_id, path, path.name, **fields)
        yield path, replace(entry, sound=sound), ""
    if progress:
        progress(len(files), len(files), "")


def _held(
    library: Library, digest: str, known: Mapping[str, Entry], cache: Path | None
) -> Entry | None:
    """The entry of a file with this content, if one was embedded."""
    if entry := known.get(digest) or library.with_content(digest):
        return entry
    file = cache / f"{digest}.npz" if cache else None
    return entries.read(file, digest) if file and file.exists() else None


def _embed(encoder: SoundEncoder, path: Path, digest: str, cache: Path | None) -> Entry:
    """Raises InputError for a file that is not audio, or silent."""
    entry = embedded(encoder, path, digest)
    if cache:
        entries.write(cache / f"{digest}.npz", entry)
    return entry


def _new_id(library: Library, digest: str, name: str, taken: Collection[str]) -> str:
    """The same id for the same content and name, unless it is taken already."""
    number = 0
    while True:
        sound_id = hashlib.sha256(f"{digest}/{name}/{number}".encode()).hexdigest()[:16]
        if sound_id not in taken and sound_id not in library.numbers:
            return sound_id
        number += 1
