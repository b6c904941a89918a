"""Two engines that could search more vectors than memory holds: our index on the disk, and
LanceDB.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.index_scale.vectors import NEAREST
from earshot.sound_index.library import POOL
from earshot.sound_index.nearest import N_PROBES, SPARE_CANDIDATES, SUBVECTOR

# A query (D,) → ids of the NEAREST sounds, best first, each read whole. Either engine probes as
# many lists, and scores as many candidates by their full vectors, as a search of the page does.
Search = Callable[[np.ndarray], list[str]]
CACHE: Final = 256 * 2**20  # bytes that LanceDB may hold of its index


def sound_id(number: int) -> str:
    return f"{number:016x}"


def fields(number: int) -> dict[str, Any]:
    """Make up the fields of a sound, as long as such fields are."""
    name = f"{number:08d}.ogg"
    return {
        "id": sound_id(number),
        "path": f"/sounds/{number // 1000:05d}/{name}",
        "name": name,
        "caption": f"Sound {number} of a library that was made to be large.",
        "kind": "rain",
        "seconds": 1.0,
        "content_hash": f"{number:064x}",
    }


def write_disk(folder: Path, pieces: Iterator[np.ndarray]) -> None:
    """Write our index, as `index FOLDER --index-backend disk` does: a segment and a second a sound.
    The map alone is made of random places.
    """
    from earshot.sound_index.disk import Writer
    from earshot.sound_index.sound import Entry, Sound
    from earshot.sound_index.stored import About

    first = next(pieces)
    writer, number = Writer(folder, first.shape[1]), 0
    for piece in _chained(first, pieces):
        for vector in piece:
            about = fields(number)
            sound = Sound(**about | {"path": Path(about["path"])})
            writer.put(Entry(sound, vector[None], vector[None].astype(np.float16)))
            number += 1
    places = np.random.default_rng(0).random((number, 2), dtype=np.float32)
    writer.commit(About("made", "made"), places)


def open_disk(folder: Path) -> Search:
    from earshot.sound_index.disk import StoredLibrary
    from earshot.sound_index.index import read_index

    library = read_index(folder)[1]
    assert isinstance(library, StoredLibrary)

    def search(query: np.ndarray) -> list[str]:
        _, rows = library.nearest.search(query, POOL)  # a sound has one row
        return [library.sounds[int(row)].id for row in rows[:NEAREST]]

    return search


def write_lance(folder: Path, pieces: Iterator[np.ndarray]) -> None:
    """Write a table of LanceDB with an IVF-PQ index of as many lists and bytes as ours. The table
    takes the place of the one before in one version, which its index follows.
    """
    lancedb, pa = import_module("lancedb"), import_module("pyarrow")

    number = 0

    def batches() -> Iterator[Any]:
        nonlocal number
        for piece in pieces:
            rows = [fields(number + i) for i in range(len(piece))]
            columns = {name: [row[name] for row in rows] for name in rows[0]}
            flat = pa.array(piece.ravel())
            vectors = pa.FixedSizeListArray.from_arrays(flat, piece.shape[1])
            number += len(piece)
            yield pa.RecordBatch.from_pydict({**columns, "vector": vectors})

    first = next(source := batches())
    reader = pa.RecordBatchReader.from_batches(first.schema, _chained(first, source))
    table = lancedb.connect(folder).create_table("sounds", reader, mode="overwrite")
    lists = int(np.ceil(np.sqrt(number)))
    codes = first.schema.field("vector").type.list_size // SUBVECTOR
    index = import_module("lancedb.index").IvfPq(
        distance_type="dot", num_partitions=lists, num_sub_vectors=codes
    )
    table.create_index("vector", config=index)


def open_lance(folder: Path) -> Search:
    lancedb = import_module("lancedb")

    session = lancedb.Session(index_cache_size_bytes=CACHE, metadata_cache_size_bytes=CACHE // 4)
    table = lancedb.connect(folder, session=session).open_table("sounds")

    columns = [*fields(0), "_distance"]

    def search(query: np.ndarray) -> list[str]:
        near = table.search(query, vector_column_name="vector").distance_type("dot")
        near = (
            near.nprobes(N_PROBES)
            .refine_factor((POOL + SPARE_CANDIDATES) // NEAREST)
            .limit(NEAREST)
        )
        return near.select(columns).to_arrow()["id"].to_pylist()

    return search


def _chained(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


ENGINES: Final = {"disk": (write_disk, open_disk), "lancedb": (write_lance, open_lance)}
