"""Trained networks as the checkpoints that the pipeline loads."""

import json
from pathlib import Path
from typing import Any

import torch

from earshot.pretrained.sound_search import MINILM
from earshot.systems.sound_search.encoder import EarshotEncoder
from training.common.checkpoints import update_metrics, write_weights
from training.sound_search.evaluate import calibrate
from training.sound_search.own_folders import calibrate_own, write_own_threshold
from training.sound_search.recipe import EVALUATED, SHIPPED, STAGES, UNSEEN, kinds_of, stage_of
from training.sound_search.train import VALIDATION_FOLD


def export(data: Path, run: Path, out: Path) -> None:
    """Write the shipped checkpoints below ``out``, the evaluated ones below run/validation, and
    those that were trained without the unseen kinds below run/unseen.

    The threshold of both is calibrated on the validation fold with the network that was not trained
    on it.
    """
    for name, network in UNSEEN.items():
        if (run / f"{kinds_of(network)}.pt").exists():
            _write(run, network, run / "unseen" / name, threshold=0.0)
    for name, evaluated in EVALUATED.items():
        if not (run / f"{kinds_of(evaluated)}.pt").exists():
            continue
        validation = run / "validation" / name
        _write(run, evaluated, validation, threshold=0.0)
        encoder = EarshotEncoder.from_pretrained(validation)
        threshold = calibrate(encoder, data, VALIDATION_FOLD)
        own, _ = calibrate_own(encoder, data)
        _write(run, evaluated, validation, threshold)
        write_own_threshold(validation, own)
        if name in SHIPPED:
            shipped = SHIPPED[name]
            _write(run, shipped, out / name, threshold)
            write_own_threshold(out / name, own)
            hours = {part: _hours(run, part) for part in [*_lineage(shipped), kinds_of(shipped)]}
            update_metrics(out / name, {"training_hours": hours})


def _write(run: Path, network: str, folder: Path, threshold: float) -> None:
    saved: dict[str, Any] = torch.load(run / f"{kinds_of(network)}.pt", weights_only=True)
    config = {
        "name": folder.name,
        "sentence_encoder": MINILM,
        "threshold": round(threshold, 4),
        "folds": [fold for fold in stage_of(network).folds if fold],
        "without_unseen": stage_of(network).without_unseen,
        "network": saved["config"],
    }
    write_weights(folder, config, saved["network"])


def _lineage(name: str) -> list[str]:
    """List the named network and all that it was initialised or distilled from, in recipe order;
    none where it is fitted at once."""
    stage = stage_of(name)
    before = {
        part for origin in (stage.start, stage.teacher) if origin for part in _lineage(origin)
    }
    return [part for part in STAGES if part in before | {name}]


def _hours(run: Path, name: str) -> float:
    return round(json.loads((run / f"{name}.json").read_text())["hours"], 4)
