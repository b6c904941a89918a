"""The recipe: what is trained, in which order, for how long: one entry a network."""

from collections.abc import Callable
from pathlib import Path

from earshot.media.constants import N_BINS
from earshot.models.vocoder import VocoderConfig
from earshot.models.vqvae import CodebookInverterConfig, KMeansConfig, VQVAEConfig
from training.common.loop import Budget
from training.voice_conversion import vocoder
from training.voice_conversion.baselines.inverter import train_inverter, train_vocoder
from training.voice_conversion.baselines.units import train_kmeans, train_units, train_vq
from training.voice_conversion.conversion import train_conversion

MEL = CodebookInverterConfig()
LINEAR = CodebookInverterConfig(n_outputs=N_BINS, pitch=False)  # the paper's

# The default, over a recogniser: each part goes on from its state, up to its length.
RECIPE: dict[str, Callable[[Path, str], None]] = {
    "conversion": lambda run, name: train_conversion(run, name, Budget(steps=3_000)),
    "any-voice-vocoder": lambda run, name: vocoder.train_vocoder(run, name, Budget(steps=20_000)),
}
# Networks that start from another's weights need fewer steps.
BASELINES: dict[str, Callable[[Path, str], None]] = {
    "plain-512": lambda run, name: train_units(run, name, VQVAEConfig(512, (2, 1)), 2600),
    "vqvae-512": lambda run, name: train_units(
        run, name, VQVAEConfig(512, (2, 1), contrastive_weight=0.2), 1000, "plain-512"
    ),
    "vqvae-256": lambda run, name: train_units(
        run, name, VQVAEConfig(256, contrastive_weight=0.3), 1200, "vqvae-512"
    ),
    "vqvae-128": lambda run, name: train_units(
        run, name, VQVAEConfig(128, contrastive_weight=0.1), 500, "vqvae-256"
    ),
    "vqvae-64": lambda run, name: train_units(
        run, name, VQVAEConfig(64, contrastive_weight=0.1), 500, "vqvae-256"
    ),
    "inverter-first": lambda run, name: train_inverter(run, name, "vqvae-512", MEL, 1200),
    "inverter-second": lambda run, name: train_inverter(
        run, name, "vqvae-512", MEL, 1500, "inverter-first"
    ),
    "inverter-512": lambda run, name: train_inverter(
        run, name, "vqvae-512", MEL, 1500, "inverter-second"
    ),
    "inverter-256-first": lambda run, name: train_inverter(
        run, name, "vqvae-256", MEL, 500, "inverter-first"
    ),
    "inverter-256": lambda run, name: train_inverter(
        run, name, "vqvae-256", MEL, 1300, "inverter-256-first"
    ),
    "inverter-128": lambda run, name: train_inverter(
        run, name, "vqvae-128", MEL, 400, "inverter-256-first"
    ),
    "inverter-64": lambda run, name: train_inverter(
        run, name, "vqvae-64", MEL, 400, "inverter-256-first"
    ),
    # The paper's: its own losses and spectrogram, as many steps as vqvae-512 and its inverter.
    "paper-512": lambda run, name: train_units(
        run, name, VQVAEConfig(512, (2, 1)), 3600, augmented=False
    ),
    "inverter-paper-512": lambda run, name: train_inverter(run, name, "paper-512", LINEAR, 4200),
}
# Over the frames of a front end (prepare --front-end).
FRONT_END_RECIPE: dict[str, Callable[[Path, str], None]] = {
    "kmeans": lambda run, name: train_kmeans(run, name, KMeansConfig()),
    "vq": lambda run, name: train_vq(run, name, VQVAEConfig(512, (2, 1)), 2600),
    "vocoder": lambda run, name: train_vocoder(run, name, VocoderConfig(), 1500),
    "inverter-kmeans": lambda run, name: train_inverter(run, name, "kmeans", MEL, 4200),
    "inverter-vq": lambda run, name: train_inverter(run, name, "vq", MEL, 4200),
}
