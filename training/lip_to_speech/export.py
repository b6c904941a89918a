"""Trained networks as a checkpoint of the app, and those to compare it with."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from pipelines.lip_to_speech.caption import caption
from training.common.checkpoints import update_metrics, write_weights
from training.lip_to_speech.data.batches import Clips
from training.lip_to_speech.recipe import BASELINE, MEASURED, SHIPPED, SPEAKS, VOCODER, lineage
from training.lip_to_speech.train.faces import Faces
from training.lip_to_speech.train.reader import load_reader

DOUBTED: Final = 0.75  # share of the films shown backwards that are doubted


def export(run: Path, out: Path) -> None:
    """Write the shipped checkpoint below ``out``, and the others below run/validation."""
    vocoder, folder = _saved(run / f"{SPEAKS}.pt"), out / VOCODER
    write_weights(folder, vocoder["config"], vocoder["network"])
    _note(folder, run, [SPEAKS])
    faces = Faces(run)
    order = from_dark_to_bright(faces.vectors)
    for name, network in MEASURED.items():
        if not (run / f"{network}.pt").exists():
            continue
        reader, guess = (_saved(run / f"{part}.pt") for part in (network, "faces"))
        shipped = name == SHIPPED
        config = {
            "name": name,
            "reader": reader["config"],
            "faces": guess["config"],
            "vocoder": VOCODER if shipped else str((out / VOCODER).resolve()),
            "talkers": [faces.names[i] for i in order],
            "voices": faces.vectors[order].tolist(),
            "sure": _doubt(run, network),
        }
        weights = {
            f"{part}.{key}": value
            for part, saved in (("reader", reader), ("faces", guess))
            for key, value in saved["network"].items()
        }
        folder = (out if shipped else run / "validation") / name
        write_weights(folder, config, weights, limited=shipped)
        _note(folder, run, ["voices", "faces", *lineage(network)])
    if (run / "eigenlips.pt").exists():
        saved, folder = _saved(run / "eigenlips.pt"), run / "validation" / BASELINE
        write_weights(folder, saved["config"], saved["network"], limited=False)
        _note(folder, run, ["eigenlips"])


def _note(folder: Path, run: Path, networks: Sequence[str]) -> None:
    """How long they were trained, and what they reached on validation."""
    results = {name: json.loads((run / f"{name}.json").read_text()) for name in networks}
    hours = {name: round(result.pop("hours"), 2) for name, result in results.items()}
    update_metrics(folder, {"training_hours": hours, "validation": results})


def from_dark_to_bright(vectors: Tensor) -> list[int]:
    """The talkers in the order of the direction in which voices (N, V) differ most."""
    centred = vectors - vectors.mean(dim=0)
    return (centred @ torch.linalg.svd(centred).Vh[0]).argsort().tolist()


@torch.inference_mode()
def _doubt(run: Path, reader: str) -> float:
    """The confidence from which a caption is believed: DOUBTED of the validation films, shown
    backwards, in which no sentence is said, do not reach it. (Taken from sentences of the talker
    whom it knows best, it would doubt everybody else's.)"""
    network = load_reader(run / f"{reader}.pt")
    clips = Clips([run / "clips.npz"], "val")
    confidences = []
    for first in range(len(clips)):
        batch = clips.rows(first, first + 1)
        _, words = network.watch(batch.crops.flip(1), batch.points.flip(1))
        said = caption(words[0].log_softmax(dim=-1).numpy())
        confidences.append(np.mean([word.confidence for word in said] or [0.0]))
    return round(float(np.quantile(confidences, DOUBTED)), 4)


def _saved(path: Path) -> dict[str, Any]:
    return torch.load(path, weights_only=True)
