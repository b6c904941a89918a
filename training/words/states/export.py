"""Export the networks over states as checkpoints, which hear the recogniser's own states: what
prepare and train did to these becomes part of the first layer."""

import json
from pathlib import Path
from typing import Any, Final

import torch

from training.common.checkpoints import update_metrics, write_weights
from training.words.states.arrays import LAYERS, on_states, read_basis

NAMES: Final = {"bottleneck": "words-states-bottleneck", "whole": "words-states"}


def export(run: Path, out: Path) -> None:
    """Write the checkpoints of run/bottleneck.pt and run/whole.pt to folders of ``out``."""
    basis = read_basis(run)
    for network, name in NAMES.items():
        saved: dict[str, Any] = torch.load(run / f"{network}.pt", weights_only=True)
        weights = on_states(saved["network"], saved["scale"], basis)
        sizes = saved["config"] | {"n_mels": weights["frames.weight"].shape[1]}
        config = {"name": name, "network": sizes, "recogniser_layers": list(LAYERS)}
        write_weights(out / name, config, {name: weight.cpu() for name, weight in weights.items()})
        metrics = json.loads((out / name / "metrics.json").read_text())
        before = metrics.get("training_hours", {}) if saved["again"] else {}
        stage = f"{network}, longer" if saved["again"] else network
        hours = before | {stage: saved["seconds"] / 3600}
        update_metrics(out / name, {"training_hours": hours})
