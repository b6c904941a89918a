"""The tables of lip to speech."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from training.common.report import markdown

GROUP: Final = {"group": ("speakers", "s"), "videos": ("videos", "d")}
COLUMNS: Final = {  # metric → heading, format
    **GROUP,
    "refused": ("refused", "d"),
    "stoi": ("STOI", ".3f"),
    "estoi": ("ESTOI", ".3f"),
    "stoi_aligned": ("STOI aligned", ".3f"),
    "estoi_aligned": ("ESTOI aligned", ".3f"),
    "pesq": ("PESQ", ".2f"),
    "dnsmos": ("DNSMOS", ".2f"),
    "wer": ("WER %", ".1f"),
    "wer_sphinx": ("WER sphinx %", ".1f"),
    "wer_asr": ("WER Whisper %", ".1f"),
    "wer_caption": ("WER caption %", ".1f"),
}
DETAILS: Final = {
    "Confidence of captions": {
        "confidence": ("mean confidence", ".3f"),
        "calibration_error": ("expected calibration error", ".3f"),
    },
    "Voices of unseen speakers": {
        "voice_rank": ("share of other voices that are nearer", ".2f"),
        "pitch_error": ("F0 error, semitones", ".1f"),
    },
}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write the main metrics of every row in Markdown."""
    return markdown(rows, COLUMNS)


def details(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write the other tables in Markdown, of the rows that have any of their metrics."""
    parts = []
    for title, columns in DETAILS.items():
        known = [row for row in rows if columns.keys() & row.keys()]
        if known:
            parts.append(f"{title}:\n\n{markdown(known, GROUP | columns)}")
    return "\n\n".join(parts)
