"""Tables of results, as printed and as published in docs/, and model cards: the README.md of a
checkpoint, from the template that lies with it.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from earshot.core.paths import CHECKPOINTS

COLUMNS: Final = {  # metric → heading, format
    "abx_across": ("ABX across %", ".1f"),
    "abx_within": ("ABX within %", ".1f"),
    "bitrate": ("bit/s", ".0f"),
    "mcd": ("MCD dB", ".2f"),
    "closer_to_target": ("nearer target", ".2f"),
    "wer": ("WER %", ".1f"),
    "wer_seen": ("WER seen %", ".1f"),
    "digit_error": ("digits %", ".1f"),
    "wer_sphinx": ("WER sphinx %", ".1f"),
    "wer_asr": ("WER Whisper %", ".1f"),
    "group": ("group", ""),
    "open_wer": ("open WER %", ".1f"),
    "open_wer_added": ("added", ".1f"),
    "whisper_wer": ("open, Whisper %", ".1f"),
    "whisper_added": ("added, Whisper", ".1f"),
    "noise_20db": ("babble 20 dB, Whisper %", ".1f"),
    "noise_10db": ("babble 10 dB, Whisper %", ".1f"),
    "noise_5db": ("babble 5 dB, Whisper %", ".1f"),
    "noise_0db": ("babble 0 dB, Whisper %", ".1f"),
    "hall_clean": ("clean, Whisper %", ".1f"),
    "hall_15db": ("15 dB", ".1f"),
    "hall_10db": ("10 dB", ".1f"),
    "warned_clean": ("warned %, clean", ".0f"),
    "warned_20db": ("20 dB", ".0f"),
    "warned_10db": ("10 dB", ".0f"),
    "warned_5db": ("5 dB", ".0f"),
    "warned_0db": ("0 dB", ".0f"),
    "warned_-5db": ("-5 dB", ".0f"),
    "dnsmos": ("DNSMOS", ".2f"),
    "conversions": ("conversions", "d"),
    "trials": ("trials", "d"),
    "eer_ignorant": ("EER %, ignorant", ".0f"),
    "eer_informed": ("informed", ".0f"),
    "eer_ignorant_dvector": ("EER %, ignorant, d-vector", ".0f"),
    "eer_informed_dvector": ("informed, d-vector", ".0f"),
    "like_source": ("like source", ".2f"),
    "like_source_dvector": ("like source, d-vector", ".2f"),
    "like_shipped": ("like nearest shipped", ".2f"),
    "like_shipped_dvector": ("like nearest shipped, d-vector", ".2f"),
    "secs": ("SECS", ".3f"),
    "nearer_of_21": ("right one of 21", ".2f"),
    "secs_dvector": ("SECS, d-vector", ".3f"),
    "nearer_of_21_dvector": ("right one of 21, d-vector", ".2f"),
    "digit_error_sphinx": ("digits sphinx %", ".1f"),
    "digit_error_asr": ("digits Whisper %", ".1f"),
    "R@1": ("R@1", ".3f"),
    "R@5": ("R@5", ".3f"),
    "R@10": ("R@10", ".3f"),
    "P@5": ("P@5", ".3f"),
    "mAP@10": ("mAP@10", ".3f"),
    "mAP@16": ("mAP@16", ".3f"),
    "no_match_auroc": ("no-match AUROC", ".3f"),
    "no_match_error": ("no-match error", ".3f"),
    "mixture_R@1": ("mixture R@1", ".3f"),
    "mixture_R@10": ("mixture R@10", ".3f"),
    "both_found": ("both found", ".3f"),
    "order_right": ("order right", ".3f"),
    "mixture_R@1_whole": ("mixture R@1, whole query", ".3f"),
    "both_found_whole": ("both found, whole query", ".3f"),
    "class_accuracy": ("class accuracy", ".3f"),
    "acoustic_ap": ("acoustic AP", ".3f"),
    "acoustic_ap_across": ("across speakers", ".3f"),
    "cross_view_ap": ("cross-view AP", ".3f"),
    "p_at_1": ("P@1", ".3f"),
    "unseen_cross_view_ap": ("unseen words: cross-view AP", ".3f"),
    "unseen_p_at_1": ("unseen words: P@1", ".3f"),
    "near_homophones": ("near-homophones", ".3f"),
    "calibration_error": ("calibration error", ".3f"),
}
VOICE_KEYS: Final = tuple(f"wer_{voice}" for voice in ("SF1", "TF2", "SM1", "TM3", "S1"))


def markdown(
    rows: Iterable[Mapping[str, Any]], columns: Mapping[str, tuple[str, str]] = COLUMNS
) -> str:
    """Write rows as a Markdown table: the columns that any row has a number for."""
    rows = list(rows)
    present = {metric: head for metric, head in columns.items() if any(metric in r for r in rows)}
    lines = [["system", *(heading for heading, _ in present.values())]]
    for row in rows:
        lines.append(
            [_name(row), *(format(row[m], f) if m in row else "–" for m, (_, f) in present.items())]
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in [lines[0], rule, *lines[1:]]
    )


def publish_table(
    rows: Iterable[Mapping[str, Any]],
    page: Path,
    mark: str,
    columns: Mapping[str, tuple[str, str]] = COLUMNS,
) -> None:
    """Write the table between the comments <!-- mark --> and <!-- /mark --> of a file."""
    publish_text(markdown(rows, columns), page, mark)


def publish_text(text: str, page: Path, mark: str) -> None:
    """Write a text between the comments <!-- mark --> and <!-- /mark --> of a file."""
    start, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, rest = page.read_text(encoding="utf-8").split(start)
    after = rest.split(end)[1]
    page.write_text(f"{before}{start}\n{text}\n{end}{after}", encoding="utf-8")


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print the table, and the word errors of each target voice below it."""
    print(markdown(rows))
    for row in rows:
        voices = {key.removeprefix("wer_"): row[key] for key in row if key in VOICE_KEYS}
        if voices:
            errors = ", ".join(f"{voice} {error:.1f}" for voice, error in voices.items())
            print(f"{row['system']}: WER % by voice: {errors}")


def _name(row: Mapping[str, Any]) -> str:
    name = f"{row['system']} (default)" if row["shipped"] else str(row["system"])
    name += f", {row['note']}" if "note" in row else ""
    return f"{name} – HAS SEEN THESE CLIPS: no result" if row.get("seen") else name


def render_card(folder: Path, name: str | None = None, **values: Any) -> str:
    """Return the model card of a checkpoint, from the template checkpoints/NAME/card.md.jinja.

    The name is the folder's unless given. The template's variables are ``name``, ``config`` and
    ``metrics`` (the JSON files in the folder) and further values; the filter ``markdown`` writes
    rows of results as a table. Raises jinja2.UndefinedError where the template needs what is
    missing.
    """
    environment = Environment(
        loader=FileSystemLoader(CHECKPOINTS),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["markdown"] = markdown
    config, metrics = (
        json.loads((folder / f"{file}.json").read_text(encoding="utf-8"))
        for file in ("config", "metrics")
    )
    name = name or folder.name
    template = environment.get_template(f"{name}/card.md.jinja")
    return template.render(name=name, config=config, metrics=metrics, **values)


def write_card(folder: Path, name: str | None = None, **values: Any) -> None:
    """Write the model card of a checkpoint into its folder, as README.md."""
    (folder / "README.md").write_text(render_card(folder, name, **values), encoding="utf-8")
