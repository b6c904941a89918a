"""Words as files: a table of recordings with their vectors and nearest words, and places of a word
as CSV, as a TextGrid for Praat (Boersma & Weenink), as labels for Audacity, and as clips.
"""

import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

import numpy as np

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.media.audio.load import wav_bytes
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.table import csv_text
from earshot.systems.words.library import WordLibrary
from earshot.systems.words.system import Neighbour, Spoken, Words

if TYPE_CHECKING:
    from earshot.systems.words.word_index import Hit, WordIndex  # not loaded: it takes a second
    from earshot.systems.words.word_search import Place

NEIGHBOURS: Final = 5
CLIP_MARGIN: Final = 1.0  # seconds of context before and after a place


@dataclass(frozen=True)
class Row:
    """A recording by its name, with its word and the nearest words, or why it could not be used."""

    name: str
    spoken: Spoken | None
    neighbours: tuple[Neighbour, ...] = ()
    error: str = ""


def embed_files(words: Words, library: WordLibrary, files: Iterable[str | Path]) -> Iterator[Row]:
    """Embed each file; one that cannot be used is a row with the reason."""
    for path in map(Path, files):
        cancellation.check()
        try:
            spoken = words.embed_audio(path)
        except InputError as error:
            yield Row(path.name, None, error=error.message)
            continue
        near = words.nearest(library, spoken.vector, "written", NEIGHBOURS)
        yield Row(path.name, spoken, near)


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
    nearest = [cell for n in row.neighbours for cell in (n.word.spelling, f"{n.cosine:.4f}")]
    nearest += [""] * (near - len(nearest))
    span = [f"{row.spoken.start:.3f}", f"{row.spoken.end:.3f}"]
    vector = [f"{number:.5f}" for number in row.spoken.vector]
    return [row.name, *span, *nearest, "", " ".join(row.spoken.notices), *vector]


def places_csv(places: Iterable["Place"], word: str) -> str:
    """Write a CSV with a header: word, start and end in seconds, score."""
    rows = (
        (word, f"{place.start:.3f}", f"{place.end:.3f}", f"{place.score:.4f}")
        for place in sorted(places, key=lambda place: place.start)
    )
    return csv_text([("word", "start", "end", "score"), *rows])


def text_grid(places: Iterable["Place"], word: str, seconds: float) -> str:
    """Write a TextGrid with one interval tier, in Praat's long text format.

    Intervals must not overlap: two places that do meet in the middle of what they share.
    """
    intervals: list[tuple[float, float, str]] = []
    reached = 0.0
    chosen = sorted(places, key=lambda place: place.start)
    for place, following in zip_longest(chosen, chosen[1:]):
        end = min(place.end, seconds)
        if following and following.start < end:
            end = (following.start + end) / 2
        start = max(place.start, reached)
        if start > reached:
            intervals.append((reached, start, ""))
        intervals.append((start, end, f"{word} {place.score:.2f}"))
        reached = end
    if reached < seconds:
        intervals.append((reached, seconds, ""))
    tier = "".join(
        f"        intervals [{number}]:\n            xmin = {start:.4f}\n"
        f'            xmax = {end:.4f}\n            text = "{_quoted(label)}"\n'
        for number, (start, end, label) in enumerate(intervals, start=1)
    )
    return (
        'File type = "ooTextFile"\nObject class = "TextGrid"\n\n'
        f"xmin = 0\nxmax = {seconds:.4f}\ntiers? <exists>\nsize = 1\nitem []:\n    item [1]:\n"
        f'        class = "IntervalTier"\n        name = "{_quoted(word)}"\n        xmin = 0\n'
        f"        xmax = {seconds:.4f}\n        intervals: size = {len(intervals)}\n{tier}"
    )


def _quoted(text: str) -> str:
    """Escape a string for Praat, in which a quotation mark is doubled, and a line ends it."""
    return " ".join(text.split()).replace('"', '""')


def labels(places: Iterable["Place"], word: str) -> str:
    """Write the places as labels for Audacity: a line each of start, end (s) and text, with tabs
    between them."""
    return "".join(
        f"{place.start:.6f}\t{place.end:.6f}\t{' '.join(word.split())} {place.score:.2f}\n"
        for place in sorted(places, key=lambda place: place.start)
    )


def hits_csv(hits: Iterable["Hit"], word: str) -> str:
    """Write a CSV with a header, the best place first: word, file, start and end in seconds, score,
    and whether it is of the sound ("yes") or an estimate."""
    rows = (
        (
            word,
            hit.recording.name,
            f"{hit.place.start:.3f}",
            f"{hit.place.end:.3f}",
            f"{hit.place.score:.4f}",
            "yes" if hit.careful else "no",
        )
        for hit in hits
    )
    return csv_text([("word", "file", "start", "end", "score", "careful"), *rows])


def hits_zip(hits: Sequence["Hit"], word: str, index: "WordIndex") -> bytes:
    """Pack places.csv, and for each recording a TextGrid and labels for Audacity, named as it is;
    and of each place its clip, with a second before and after."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("places.csv", hits_csv(hits, word).encode("utf-8-sig"))
        for recording in dict.fromkeys(hit.recording for hit in hits):
            places = [hit.place for hit in hits if hit.recording == recording]
            grid = text_grid(places, word, recording.seconds)
            file.writestr(f"{recording.name}.TextGrid", grid.encode())
            file.writestr(f"{recording.name}.labels.txt", labels(places, word).encode())
        for rank, hit in enumerate(hits, start=1):
            cancellation.check()
            name = f"clips/{rank:03}-{PurePosixPath(hit.recording.name).stem}.wav"
            file.writestr(name, wav_bytes(clip(hit, index), SAMPLE_RATE))
    return buffer.getvalue()


def clip(hit: "Hit", index: "WordIndex") -> np.ndarray:
    """Cut out a place with CLIP_MARGIN of context: (T,) at 16 kHz."""
    start, end = hit.place.start - CLIP_MARGIN, hit.place.end + CLIP_MARGIN
    return index.sound(hit.recording, max(0.0, start), min(hit.recording.seconds, end))
