"""The networks of sound search, in the order in which they are trained.

What learns from folds 1 to 3 is measured on fold 4; what is shipped goes on from there with all
four folds.
"""

from functools import partial
from typing import Final

from models.patch_transformer import PatchTransformerConfig
from models.sound_cnn import SoundCNNConfig
from models.sound_embedder import SoundEmbedderConfig
from training.sound_search.data.batches import Diet
from training.sound_search.train.kinds import ground
from training.sound_search.train.train import TRAINING_FOLDS, VALIDATION_FOLD, Stage, align

CNN: Final = SoundEmbedderConfig(SoundCNNConfig())
PASST: Final = SoundEmbedderConfig(PatchTransformerConfig())
STEMMED: Final = SoundEmbedderConfig(
    PatchTransformerConfig(layers=4, stem_channels=(32, 64, 160), stem_blocks=(1, 2, 2))
)

REAL: Final = Diet(synthetic=0.0, borrowed=0.0)
FINE: Final = Diet(mixed=0.4, own=0.15, borrowed=0.15)
ALL_FOLDS: Final = (*TRAINING_FOLDS, VALIDATION_FOLD)

STAGES: Final[dict[str, tuple[SoundEmbedderConfig, Stage]]] = {
    "cnn-first": (CNN, Stage(1600, 1.5e-3, REAL)),
    "passt-plain": (PASST, Stage(900, 5e-4, REAL)),
    "cnn-123": (CNN, Stage(600, 5e-4, FINE, start="cnn-first")),
    "passt-123": (STEMMED, Stage(450, 5e-4, FINE, teacher="cnn-first")),
    "cnn-1234": (CNN, Stage(450, 4e-4, FINE, ALL_FOLDS, start="cnn-123")),
    "passt-1234": (STEMMED, Stage(250, 3e-4, FINE, ALL_FOLDS, start="passt-123")),
}
# Checkpoint → the network that is shipped, with its kinds; and the one that is measured.
SHIPPED: Final = {"sound-cnn": "cnn-1234", "sound-passt": "passt-1234"}
MEASURED: Final = {
    "sound-cnn": "cnn-123",
    "sound-passt": "passt-123",
    "sound-passt-plain": "passt-plain",
}


def kinds_of(name: str) -> str:
    """The name of a network that has its kinds."""
    return f"{name}-kinds"


RECIPE: Final = {
    name: partial(align, config=config, stage=stage) for name, (config, stage) in STAGES.items()
} | {
    kinds_of(name): partial(ground, start=name, folds=STAGES[name][1].folds)
    for name in (*MEASURED.values(), *SHIPPED.values())
}
