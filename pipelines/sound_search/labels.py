"""Votes of visitors as graded labels."""

import csv
import io
from collections.abc import Mapping

from pipelines.sound_search.index import SoundIndex


def labels_csv(index: SoundIndex, votes: Mapping[str, Mapping[str, int]]) -> str:
    """Votes (query → id of a sound → +1 or -1) as graded labels, for evaluation or training.

    A CSV with a header: query, name, kind, caption, content_hash, grade. Sounds that are no longer
    in the index are left out.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["query", "name", "kind", "caption", "content_hash", "grade"])
    for query, grades in votes.items():
        for sound_id, grade in grades.items():
            if sound_id in index:
                sound = index[sound_id]
                words = (sound.name, sound.kind, sound.caption, sound.content_hash)
                table.writerow([query, *words, grade])
    return text.getvalue()
