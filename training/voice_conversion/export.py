"""Put trained networks together as the checkpoints that the pipeline loads."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models.vqvae import VQVAEConfig
from training.common.checkpoints import update_metrics, write_weights

UNITS_512, UNITS_256 = ("plain-512", "vqvae-512"), ("plain-512", "vqvae-512", "vqvae-256")
FIRST = ("inverter-first", "inverter-256-first")
# Checkpoint → its VQ-VAE and its inverter, as named in the recipe, each after those it starts from.
SHIPPED = {
    "vqvae-64": ((*UNITS_256, "vqvae-64"), (*FIRST, "inverter-64")),
    "vqvae-128": ((*UNITS_256, "vqvae-128"), (*FIRST, "inverter-128")),
    "vqvae-256": (UNITS_256, (*FIRST, "inverter-256")),
    "vqvae-512": (UNITS_512, ("inverter-first", "inverter-second", "inverter-512")),
    "vqvae-128-linear": ((*UNITS_256, "vqvae-128"), ("inverter-128-linear",)),
}


def export(run: Path, out: Path) -> None:
    """Write every checkpoint whose networks have been trained in ``run`` below ``out``."""
    for name, (units, inverter) in SHIPPED.items():
        if all((run / f"{part}.pt").exists() for part in (units[-1], inverter[-1])):
            _export_model(run, out / name, units[-1], inverter[-1])
            hours = {part: _training(run, part) for part in (*units, *inverter)}
            update_metrics(out / name, {"training": hours})
    if (run / "vocoder.pt").exists():
        config, weights = _read(run, "vocoder")
        write_weights(out / "vocoder", config, weights)
        update_metrics(out / "vocoder", {"training": {"vocoder": _training(run, "vocoder")}})


def _export_model(run: Path, folder: Path, units: str, inverter: str) -> None:
    vqvae_config, vqvae = _read(run, units)
    inverter_config, inverter_weights = _read(run, inverter)
    # Only training needs the embeddings of the training speakers: their mean is exported.
    vqvae_config = asdict(VQVAEConfig(**{**vqvae_config, "n_speakers": 1}))
    vqvae["speakers.weight"] = vqvae["speakers.weight"].mean(dim=0, keepdim=True)
    write_weights(
        folder,
        {
            "name": folder.name,
            "vocoder": "vocoder",
            "vqvae": vqvae_config,
            "inverter": inverter_config,
        },
        {
            **{f"vqvae.{name}": weight for name, weight in vqvae.items()},
            **{f"inverter.{name}": weight for name, weight in inverter_weights.items()},
        },
    )


def _read(run: Path, name: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    saved = torch.load(run / f"{name}.pt", weights_only=True, map_location="cpu")
    return saved["config"], saved["network"]


def _training(run: Path, name: str) -> dict[str, float]:
    return json.loads((run / f"{name}.json").read_text())
