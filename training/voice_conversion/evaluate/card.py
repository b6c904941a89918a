"""The model cards of voice conversion, from what is in metrics.json."""

import json
from pathlib import Path
from typing import Any, Final

from earshot.systems.voice_conversion.settings import ANY_VOICE, MODELS
from training.common.cards import write_card
from training.common.report import publish_table

EVALUATION: Final = "evaluation"  # the networks that judge
VOCODER_NAME: Final = "vocoder"
PARTS: Final = ("any-voice-inverter", "any-voice-vocoder")
BASELINES: Final = ("MFCC", "original")


def publish(rows: list[dict[str, Any]], checkpoints: Path, page: Path) -> None:
    """Write each system's results into its metrics.json, all the model cards, and the tables of
    the page: those of systems that were not measured now, from their metrics.json."""
    published = []
    for name in (EVALUATION, VOCODER_NAME, *_models(checkpoints)):
        folder = checkpoints / name
        own = [row for row in rows if _is_of(row, name)]
        path = folder / "metrics.json"
        metrics = json.loads(path.read_text())
        published += own or metrics["results"]
        if not own:
            continue
        metrics["results"] = own
        path.write_text(json.dumps(metrics, indent=2) + "\n")
        if name != EVALUATION:
            write_card(folder)
        for part in PARTS if name == ANY_VOICE else ():
            if (checkpoints / part).is_dir():
                write_card(checkpoints / part)
    publish_table([row for row in published if "group" not in row], page, "results")
    publish_table([row for row in published if "group" in row], page, "open-results")


def _models(checkpoints: Path) -> list[str]:
    """List the checkpoints that convert, as in the table."""
    return [*sorted(folder.name for folder in checkpoints.glob("vqvae-*")), ANY_VOICE]


def _is_of(row: dict[str, Any], name: str) -> bool:
    """Say whether a row of the table is about the checkpoint of this name; baselines, to which none
    belongs, are kept with the networks that judge.
    """
    system = row["system"].split(",")[0]
    if name == ANY_VOICE:
        return system == ANY_VOICE or MODELS.get(system) == ANY_VOICE
    if name == VOCODER_NAME:
        return system == "copy synthesis"
    if name == EVALUATION:
        return system in BASELINES or system.startswith("k-means")
    return system == name
