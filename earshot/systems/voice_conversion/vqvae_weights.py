"""Load the networks of a voice conversion checkpoint."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from earshot.media.audio.features import mfcc
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.models.vqvae import (
    VQVAE,
    CodebookInverter,
    CodebookInverterConfig,
    KMeans,
    KMeansConfig,
    VQVAEConfig,
)
from earshot.pretrained.checkpoint import companion, load_weights, read_config

# Names in checkpoints that were trained before the code was renamed: the beginning of a weight's
# name, and a key of the config. To go when the weights are next trained.
RENAMED_WEIGHTS: Final = {"inverter.melody.": "inverter.contour."}
RENAMED_SETTINGS: Final = {"contrast": "contrastive_weight"}


def load_networks(
    folder: Path, device: torch.device
) -> tuple[str, list[str], VQVAE | KMeans, CodebookInverter, Vocoder]:
    """Load the name, voices and networks of a checkpoint folder, with its vocoder.

    Raises FileNotFoundError when there is no such vocoder, CheckpointError when a file cannot be
    used.
    """
    config = read_config(folder)
    kind = "kmeans" if "kmeans" in config else "vqvae"
    vqvae = (
        KMeans(KMeansConfig(**config[kind]))
        if kind == "kmeans"
        else VQVAE(vqvae_config(config[kind]))
    )
    inverter = CodebookInverter(CodebookInverterConfig(**config["inverter"]))
    networks = nn.ModuleDict({kind: vqvae, "inverter": inverter})
    load_weights(networks, folder, device, RENAMED_WEIGHTS)
    vocoder_folder = companion(folder, config["vocoder"])
    vocoder = Vocoder(VocoderConfig(**read_config(vocoder_folder)))
    load_weights(vocoder, vocoder_folder, device)
    return config["name"], config["voices"], vqvae, inverter, vocoder


def load_features(folder: Path, device: torch.device) -> Callable[[np.ndarray], np.ndarray]:
    """Load the function that the units are made by: speech (T,) → frames of 10 ms (S, D). MFCC, or
    a frozen speech model where the config names a front end.

    Raises FileNotFoundError where that model cannot be loaded.
    """
    config = read_config(folder)
    if "front_end" not in config:
        return mfcc
    from earshot.pretrained.speech_encoder import SpeechEncoder  # late, for it loads transformers

    encoder = SpeechEncoder.from_pretrained(config["front_end"], str(device))
    return lambda waveform: encoder.on_grid(waveform).repeat(2, axis=0)  # they are of 20 ms


def vqvae_config(saved: dict[str, Any]) -> VQVAEConfig:
    """Read the VQ-VAE's part of a config.json, whose keys may be older than the code's."""
    return VQVAEConfig(**{RENAMED_SETTINGS.get(key, key): saved[key] for key in saved})
