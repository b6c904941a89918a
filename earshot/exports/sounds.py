"""Files for visitors to take away: results as a zip, with sounds, tables and vectors; votes as
labels.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

import numpy as np

from earshot.core.errors import InputError
from earshot.media.text.table import csv_text
from earshot.sound_index.index import SoundIndex
from earshot.systems.sound_search.ranking import Hit, SearchResult

MAX_SOUND_BYTES: Final = 50_000_000  # of all sounds together; those beyond are only named
COLUMNS: Final = ("rank", "file", "score", "start", "seconds", "kind", "caption", "content_hash")


def results_zip(result: SearchResult, index: SoundIndex) -> bytes:
    """Pack results.csv (a row a sound), results.jsonl (with the score of each part of the query in
    every second), embeddings.npz (the mean vector of each sound), and the folder sounds."""
    buffer = io.BytesIO()
    names = _names(result.hits)
    with zipfile.ZipFile(buffer, "w") as file:  # not compressed: the sounds are already
        file.writestr("results.csv", _table(result.hits, names).encode("utf-8-sig"))
        file.writestr("results.jsonl", _lines(result, names))
        file.writestr("embeddings.npz", _vectors(result.hits, names, index))
        room = MAX_SOUND_BYTES
        for hit, name in zip(result.hits, names, strict=True):
            with suppress(InputError, OSError):  # it is gone
                path = hit.sound.file
                size = path.stat().st_size
                if size <= room:
                    file.writestr(f"sounds/{name}", path.read_bytes())
                    room -= size
    return buffer.getvalue()


def labels_csv(index: SoundIndex, votes: Mapping[str, Mapping[str, int]]) -> str:
    """Write votes (query → id of a sound → +1 or -1) as graded labels, for evaluation or training.

    A CSV with a header: query, name, kind, caption, content_hash, grade. Sounds that are no longer
    in the index are left out.
    """
    rows = [
        (query, sound.name, sound.kind, sound.first_caption, sound.content_hash, grade)
        for query, grades in votes.items()
        for sound, grade in (
            (index[name], grade) for name, grade in grades.items() if name in index
        )
    ]
    return csv_text([("query", "name", "kind", "caption", "content_hash", "grade"), *rows])


def _names(hits: Iterable[Hit]) -> list[str]:
    """Name the files in the zip: two sounds of one name stay apart."""
    return [f"{rank:02}-{hit.sound.name}" for rank, hit in enumerate(hits, start=1)]


def _table(hits: Iterable[Hit], names: list[str]) -> str:
    rows = []
    for rank, (hit, name) in enumerate(zip(hits, names, strict=True), start=1):
        sound = hit.sound
        numbers = (f"{hit.score:.4f}", f"{hit.start:g}", f"{sound.seconds:.3f}")
        rows.append((rank, name, *numbers, sound.kind, sound.first_caption, sound.content_hash))
    return csv_text([COLUMNS, *rows])


def _lines(result: SearchResult, names: list[str]) -> str:
    lines = [
        {
            "file": name,
            "score": round(hit.score, 4),
            "matches": hit.matches,
            "parts": [
                {"text": part, "start": start, "seconds": [round(x, 4) for x in scores]}
                for part, start, scores in zip(
                    result.compound.parts, hit.starts, hit.part_scores.tolist(), strict=True
                )
            ],
        }
        for hit, name in zip(result.hits, names, strict=True)
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _vectors(hits: Iterable[Hit], names: list[str], index: SoundIndex) -> bytes:
    library = index.library
    rows = np.array([library.numbers[hit.sound.id] for hit in hits], int)
    buffer = io.BytesIO()
    np.savez(buffer, names=np.array(names, np.str_), vectors=library.means(rows))
    return buffer.getvalue()
