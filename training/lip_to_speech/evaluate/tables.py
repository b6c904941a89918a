"""The tables of lip to speech: the main one, and what is beside it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from training.evaluators.report import markdown

WHOSE: Final = {"group": ("talkers", "s"), "films": ("films", "d")}
COLUMNS: Final = {  # metric → heading, format
    **WHOSE,
    "refused": ("refused", "d"),
    "stoi": ("STOI", ".3f"),
    "estoi": ("ESTOI", ".3f"),
    "stoi_aligned": ("STOI aligned", ".3f"),
    "estoi_aligned": ("ESTOI aligned", ".3f"),
    "pesq": ("PESQ", ".2f"),
    "wer": ("WER %", ".1f"),
    "wer_sphinx": ("WER sphinx %", ".1f"),
    "wer_caption": ("WER caption %", ".1f"),
}
BESIDE: Final = {
    "The voice of talkers never seen": {
        "voice_rank": ("other voices that are nearer", ".2f"),
        "pitch_error": ("pitch error, semitones", ".1f"),
    },
}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: the main measures of every row."""
    return markdown(rows, COLUMNS)


def details(rows: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: the other tables, of the rows that have any of their measures."""
    parts = []
    for title, columns in BESIDE.items():
        known = [row for row in rows if columns.keys() & row.keys()]
        if known:
            parts.append(f"{title}:\n\n{markdown(known, WHOSE | columns)}")
    return "\n\n".join(parts)
