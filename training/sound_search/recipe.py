"""The networks of sound search, in the order in which they are trained.

The names that end in -123 learn from folds 1 to 3 and are measured on fold 4; the shipped networks
go on from them with all four folds.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from models.patch_transformer import PatchTransformerConfig
from models.sound_cnn import SoundCNNConfig
from models.sound_embedder import SoundEmbedderConfig
from training.sound_search.align import Stage, align
from training.sound_search.data import Diet

CNN: Final = SoundEmbedderConfig(SoundCNNConfig())
PASST: Final = SoundEmbedderConfig(PatchTransformerConfig())

RECIPE: Final[dict[str, Callable[[Path, str], None]]] = {
    "cnn-first-123": partial(align, config=CNN, stage=Stage(2200, 1.5e-3, Diet())),
    "passt-plain-123": partial(align, config=PASST, stage=Stage(900, 5e-4, Diet())),
}
