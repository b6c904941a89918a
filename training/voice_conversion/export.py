"""Put trained networks together as the checkpoints that the pipeline loads."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models.vqvae import VQVAEConfig
from training.checkpoints import update_metrics, write_weights

# Checkpoint → its VQ-VAE and its inverter, as named in the recipe.
SHIPPED = {
    "vqvae-64": ("vqvae-64", "inverter-64"),
    "vqvae-128": ("vqvae-128", "inverter-128"),
    "vqvae-256": ("vqvae-256", "inverter-256"),
    "vqvae-512": ("vqvae-512", "inverter-512"),
    "vqvae-128-linear": ("vqvae-128", "inverter-128-linear"),
}


def export(run: Path, out: Path) -> None:
    """Write every checkpoint whose networks have been trained in ``run`` below ``out``."""
    for name, parts in SHIPPED.items():
        if all((run / f"{part}.pt").exists() for part in parts):
            _export_model(run, out / name, *parts)
    if (run / "vocoder.pt").exists():
        config, weights = _read(run, "vocoder")
        write_weights(out / "vocoder", config, weights)
        update_metrics(out / "vocoder", {"training": {"vocoder": _training(run, "vocoder")}})


def _export_model(run: Path, folder: Path, units: str, inverter: str) -> None:
    (vqvae_config, vqvae), (inverter_config, inverter_weights) = (
        _read(run, units),
        _read(run, inverter),
    )
    # Only training needs to know whose speech it was: the decoder's speakers stay behind.
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
    update_metrics(folder, {"training": {part: _training(run, part) for part in (units, inverter)}})


def _read(run: Path, name: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    saved = torch.load(run / f"{name}.pt", weights_only=True, map_location="cpu")
    return saved["config"], saved["network"]


def _training(run: Path, name: str) -> dict[str, float]:
    return json.loads((run / f"{name}.json").read_text())
