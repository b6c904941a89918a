"""Load the networks of a voice conversion checkpoint."""

from pathlib import Path
from typing import Any, Final

import torch
from torch import nn

from models.inverter import Inverter, InverterConfig
from models.vocoder import Vocoder, VocoderConfig
from models.vqvae import VQVAE, VQVAEConfig
from pipelines.checkpoint import companion, load_weights, read_config

# Names in checkpoints that were trained before the code was renamed: the beginning of a weight's
# name, and a key of the config. To go when the weights are next trained.
RENAMED_WEIGHTS: Final = {"inverter.melody.": "inverter.contour."}
RENAMED_SETTINGS: Final = {"contrast": "contrastive_weight"}


def load_networks(folder: Path, device: torch.device) -> tuple[str, VQVAE, Inverter, Vocoder]:
    """The name and the networks of a checkpoint folder, with the vocoder that its config names.

    Raises FileNotFoundError when there is no such vocoder, CheckpointError when a file cannot be
    used.
    """
    config = read_config(folder)
    vqvae = VQVAE(vqvae_config(config["vqvae"]))
    inverter = Inverter(InverterConfig(**config["inverter"]))
    networks = nn.ModuleDict({"vqvae": vqvae, "inverter": inverter})
    load_weights(networks, folder, device, RENAMED_WEIGHTS)
    vocoder_folder = companion(folder, config["vocoder"])
    vocoder = Vocoder(VocoderConfig(**read_config(vocoder_folder)))
    load_weights(vocoder, vocoder_folder, device)
    return config["name"], vqvae, inverter, vocoder


def vqvae_config(saved: dict[str, Any]) -> VQVAEConfig:
    """The VQ-VAE's part of a config.json, whose keys may be older than the code's."""
    return VQVAEConfig(**{RENAMED_SETTINGS.get(key, key): saved[key] for key in saved})
