"""Put trained networks together as the checkpoints that the pipeline loads."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from earshot.models.vqvae import VQVAEConfig
from training.common.checkpoints import update_metrics, write_weights
from training.common.corpora import TARGET_VOICES
from training.common.front_end import front_end_of

UNITS_512, UNITS_256 = ("plain-512", "vqvae-512"), ("plain-512", "vqvae-512", "vqvae-256")
FIRST = ("inverter-first", "inverter-256-first")
# Checkpoint → its VQ-VAE and its inverter, as named in the recipe, each after those it starts from.
SHIPPED = {
    "vqvae-64": ((*UNITS_256, "vqvae-64"), (*FIRST, "inverter-64")),
    "vqvae-128": ((*UNITS_256, "vqvae-128"), (*FIRST, "inverter-128")),
    "vqvae-256": (UNITS_256, (*FIRST, "inverter-256")),
    "vqvae-512": (UNITS_512, ("inverter-first", "inverter-second", "inverter-512")),
    "vqvae-512-paper": (("paper-512",), ("inverter-paper-512",)),
}
FRONT_END = {
    "kmeans-front-end": (("kmeans",), ("inverter-kmeans",)),
    "vqvae-front-end": (("vq",), ("inverter-vq",)),
}


def export(run: Path, out: Path) -> None:
    """Write every checkpoint whose networks have been trained in ``run`` below ``out``."""
    for name, (units, inverter) in (FRONT_END if front_end_of(run) else SHIPPED).items():
        if all((run / f"{part}.pt").exists() for part in (units[-1], inverter[-1])):
            _export_model(run, out / name, units[-1], inverter[-1])
            hours = {part: _training(run, part) for part in (*units, *inverter)}
            update_metrics(out / name, {"training": hours})
    if (run / "vocoder.pt").exists():
        config, weights = _read(run, "vocoder")
        write_weights(out / "vocoder", config, weights)
        update_metrics(out / "vocoder", {"training": {"vocoder": _training(run, "vocoder")}})


def _export_model(run: Path, folder: Path, units: str, inverter: str) -> None:
    units_config, units_weights = _read(run, units)
    inverter_config, inverter_weights = _read(run, inverter)
    kind = "vqvae" if "strides" in units_config else "kmeans"
    if kind == "vqvae":
        # Only training needs the embeddings of the training speakers: their mean is exported.
        units_config = asdict(VQVAEConfig(**{**units_config, "n_speakers": 1}))
        speakers = units_weights["speakers.weight"].mean(dim=0, keepdim=True)
        units_weights["speakers.weight"] = speakers
    config = {
        "name": folder.name,
        "vocoder": "vocoder",
        "voices": list(TARGET_VOICES),
        kind: units_config,
        "inverter": inverter_config,
    }
    if front_end := front_end_of(run):
        config["front_end"] = front_end
    write_weights(
        folder,
        config,
        {
            **{f"{kind}.{name}": weight for name, weight in units_weights.items()},
            **{f"inverter.{name}": weight for name, weight in inverter_weights.items()},
        },
    )


def _read(run: Path, name: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    saved = torch.load(run / f"{name}.pt", weights_only=True, map_location="cpu")
    return saved["config"], saved["network"]


def _training(run: Path, name: str) -> dict[str, float]:
    return json.loads((run / f"{name}.json").read_text())
