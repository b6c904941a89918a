"""A table of many recordings of a word each, with their vectors and nearest words."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.media.text.table import csv_text
from earshot.systems.words.library import View, WordLibrary
from earshot.systems.words.result import Neighbour, Spoken
from earshot.systems.words.system import Words

NEIGHBOURS: Final = 5


@dataclass(frozen=True)
class Row:
    """A recording by its name, with its word and the nearest words, or why it could not be used."""

    name: str
    spoken: Spoken | None
    neighbours: tuple[Neighbour, ...] = ()
    error: str = ""


def embed_files(
    words: Words,
    library: WordLibrary,
    files: Iterable[str | Path],
    view: View = "written",
    limit: int = NEIGHBOURS,
) -> Iterator[Row]:
    """Embed each file; one that cannot be used is a row with the reason."""
    for path in map(Path, files):
        cancellation.check()
        try:
            spoken = words.embed_audio(path)
        except InputError as error:
            yield Row(path.name, None, error=error.message)
            continue
        yield Row(path.name, spoken, words.nearest(library, spoken.vector, view, limit))


def embeddings_csv(rows: Iterable[Row], limit: int = NEIGHBOURS) -> str:
    """Write a CSV with a header: file, start and end of the word in seconds, the nearest words with
    their cosines, the reason where a file could not be used, notices about it, and the D numbers of
    the vector.
    """
    rows = list(rows)
    width = next((len(row.spoken.vector) for row in rows if row.spoken), 0)
    near = [f"{name}_{i}" for i in range(1, limit + 1) for name in ("word", "cosine")]
    head = ["file", "start", "end", *near, "error", "notices", *(f"v{i}" for i in range(width))]
    return csv_text([head, *(_cells(row, len(near), width) for row in rows)])


def _cells(row: Row, near: int, width: int) -> list[str]:
    """Write a row of so many cells for its neighbours, and of a vector of that width."""
    if row.spoken is None:
        return [row.name, "", "", *[""] * near, row.error, "", *[""] * width]
    found = [cell for n in row.neighbours for cell in (n.word.spelling, f"{n.cosine:.4f}")]
    found += [""] * (near - len(found))
    span = [f"{row.spoken.start:.3f}", f"{row.spoken.end:.3f}"]
    vector = [f"{number:.5f}" for number in row.spoken.vector]
    return [row.name, *span, *found, "", " ".join(row.spoken.notices), *vector]
