"""The networks of sound search, in the order of their training.

Networks trained on folds 1 to 3 are evaluated on fold 4; the shipped ones are then trained further
on all four folds.
"""

from functools import partial
from typing import Final

from earshot.models.sound_search.sound_embedder import (
    PatchTransformerConfig,
    SoundCNNConfig,
    SoundEmbedderConfig,
)
from training.common.sounds import TRAINING_FOLDS
from training.sound_search.batches import Shares
from training.sound_search.effects import fit_effects
from training.sound_search.train import VALIDATION_FOLD, Stage, fit_kinds, train

# The transformer ranks no better with the kinds of a sound in its vectors.
CNN: Final = SoundEmbedderConfig(SoundCNNConfig(), posterior_scale=16.0)
PASST: Final = SoundEmbedderConfig(PatchTransformerConfig())
STEMMED: Final = SoundEmbedderConfig(
    PatchTransformerConfig(layers=4, stem_channels=(32, 64, 160), stem_blocks=(1, 2, 2))
)

REAL: Final = Shares(synthetic=0.0, audiocaps=0.0)
FINE: Final = Shares(mixed=0.4, own=0.15, audiocaps=0.15)
SHORT: Final = Shares(synthetic=0.1)
ALL_FOLDS: Final = (*TRAINING_FOLDS, VALIDATION_FOLD)

STAGES: Final[dict[str, tuple[SoundEmbedderConfig, Stage]]] = {
    "cnn-first": (CNN, Stage(1600, 1.5e-3, REAL)),
    "passt-plain": (PASST, Stage(900, 5e-4, REAL)),
    "cnn-123": (CNN, Stage(600, 5e-4, FINE, start="cnn-first")),
    "passt-123": (STEMMED, Stage(450, 5e-4, FINE, teacher="cnn-first")),
    "cnn-1234": (CNN, Stage(450, 4e-4, FINE, ALL_FOLDS, start="cnn-123")),
    "passt-1234": (STEMMED, Stage(250, 3e-4, FINE, ALL_FOLDS, start="passt-123")),
    "cnn-unseen": (CNN, Stage(1500, 1.5e-3, SHORT, without_unseen=True)),
}
# Over a pretrained encoder: fitted to all clips and captions of these folds.
FITTED: Final = {
    "effects-123": Stage(),
    "effects-1234": Stage(folds=ALL_FOLDS),
    "effects-unseen": Stage(without_unseen=True),
}
# Checkpoint → the network that is shipped, and the one that is evaluated.
SHIPPED: Final = {
    "sound-effects": "effects-1234",
    "sound-cnn": "cnn-1234",
    "sound-passt": "passt-1234",
}
EVALUATED: Final = {
    "sound-effects": "effects-123",
    "sound-cnn": "cnn-123",
    "sound-passt": "passt-123",
    "sound-passt-plain": "passt-plain",
}
# Trained without the kinds by which evaluate --part unseen measures.
UNSEEN: Final = {"sound-effects": "effects-unseen", "sound-cnn": "cnn-unseen"}


def stage_of(name: str) -> Stage:
    """Find the stage of a network: what it is trained on."""
    return FITTED[name] if name in FITTED else STAGES[name][1]


def kinds_of(name: str) -> str:
    """Name a network after fit_kinds; those that are fitted as a whole have kinds at once."""
    return name if name in FITTED else f"{name}-kinds"


RECIPE: Final = {
    **{name: partial(train, config=sizes, stage=stage) for name, (sizes, stage) in STAGES.items()},
    **{
        kinds_of(name): partial(fit_kinds, start=name, stage=STAGES[name][1])
        for name in (*EVALUATED.values(), *SHIPPED.values(), *UNSEEN.values())
        if name in STAGES
    },
    **{name: partial(fit_effects, stage=stage) for name, stage in FITTED.items()},
}
