"""Trained networks as a checkpoint of the app, and those to compare it with."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from earshot.systems.lip_to_speech.caption import Calibration
from training.common.checkpoints import update_metrics, write_weights
from training.lip_to_speech.calibration import calibrate_checkpoint
from training.lip_to_speech.recipe import (
    ANY_VOICE,
    BASELINE,
    CALIBRATION_READERS,
    CLIP_SHARE,
    FURTHER,
    MEASURED,
    SHIPPED,
    VOCODER,
    VOCODER_NETWORK,
    lineage,
)
from training.lip_to_speech.voices import Faces

UNCALIBRATED: Final = {"calibration": asdict(Calibration(temperature=2.0)), "min_confidence": 0.7}


def export(run: Path, out: Path) -> None:
    """Write the shipped checkpoint below ``out``, and the others below run/validation. The shipped
    one is calibrated where the readers that this takes have been trained."""
    vocoder, folder = _saved(run / f"{VOCODER_NETWORK}.pt"), out / VOCODER
    write_weights(folder, vocoder["config"], vocoder["network"])
    _note(folder, run, [VOCODER_NETWORK])
    faces = Faces(run)
    order = from_dark_to_bright(faces.embeddings)
    for name, network in MEASURED.items():
        if not (run / f"{network}.pt").exists():
            continue
        reader, guess = (_saved(run / f"{part}.pt") for part in (network, "faces"))
        shipped = name == SHIPPED
        further = [_saved(run / f"{part}.pt") for part in FURTHER] if shipped else []
        config = {
            "name": name,
            "reader": reader["config"] | ({"clip_share": CLIP_SHARE} if shipped else {}),
            "faces": guess["config"],
            "word_readers": [each["config"] for each in further],
            "vocoder": VOCODER if shipped else str((out / VOCODER).resolve()),
            "any_voice": ANY_VOICE if shipped else str((out / ANY_VOICE).resolve()),
            "speakers": [faces.names[i] for i in order],
            "voices": faces.embeddings[order].tolist(),
            **UNCALIBRATED,  # until calibrate_checkpoint measures it
        }
        weights = {
            f"{part}.{key}": value
            for part, saved in (
                ("reader", reader),
                ("faces", guess),
                *((f"word_readers.{i}", each) for i, each in enumerate(further)),
            )
            for key, value in saved["network"].items()
        }
        folder = (out if shipped else run / "validation") / name
        write_weights(folder, config, weights, limited=shipped)
        _note(folder, run, ["voices", "faces", *lineage(network), *(FURTHER if shipped else [])])
    readers = [run / f"{name}.pt" for name in CALIBRATION_READERS]
    if (out / SHIPPED).exists() and all(path.exists() for path in readers):
        calibrate_checkpoint(run, out / SHIPPED)
    if (run / "eigenlips.pt").exists():
        saved, folder = _saved(run / "eigenlips.pt"), run / "validation" / BASELINE
        write_weights(folder, saved["config"], saved["network"], limited=False)
        _note(folder, run, ["eigenlips"])


def _note(folder: Path, run: Path, networks: Sequence[str]) -> None:
    """Write training hours and validation results into metrics.json."""
    results = {name: json.loads((run / f"{name}.json").read_text()) for name in networks}
    hours = {name: round(result.pop("hours"), 2) for name, result in results.items()}
    update_metrics(folder, {"training_hours": hours, "validation": results})


def from_dark_to_bright(embeddings: Tensor) -> list[int]:
    """Order the speakers along the first principal component of their embeddings (N, V)."""
    centred = embeddings - embeddings.mean(dim=0)
    return (centred @ torch.linalg.svd(centred).Vh[0]).argsort().tolist()


def _saved(path: Path) -> dict[str, Any]:
    return torch.load(path, weights_only=True)
