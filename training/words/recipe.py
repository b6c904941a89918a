"""The networks of the words tab, in the order in which they are trained.

The first stages do not hear the words of DEVELOPMENT, on which the choices were made that decide
how words fare that nobody recorded; what is shipped goes on from there and hears them too.
"""

from dataclasses import replace
from functools import partial
from typing import Final

from media.text.phonemes import numbers
from models.word_embedder import ViewConfig, WordEmbedderConfig
from training.words.data.batches import Mixture
from training.words.data.zero_shot import READERS
from training.words.train.train import Stage, align

PAPER: Final = WordEmbedderConfig()
LSTM: Final = WordEmbedderConfig(ViewConfig("lstm", 3, width=512), ViewConfig("lstm", 2, width=512))
OURS: Final = WordEmbedderConfig(
    # No word is disturbed twice alike: dropout has nothing to add, and takes a sixth of the time.
    ViewConfig("conformer", 4, 4, width=192, inner=512, dropout=0.0),
    ViewConfig("conformer", 2, 4, width=192, inner=512, dropout=0.0),
    channels=32,
)

NEAR: Final = WordEmbedderConfig(
    ViewConfig("conformer", 2, 4, width=192, inner=512, dropout=0.0),
    ViewConfig("conformer", 2, 4, width=192, inner=512, dropout=0.0),
    near=3,
    channels=32,
)

DEVELOPMENT: Final = frozenset(
    tuple(numbers(READERS[language](phones)))
    for language, words in {
        "en": ("P R IH N T", "P R AA S EH S", "S EH V AH N", "F AY V", "K AE T"),
        "ar": ("taħriːk", "ʔasfal", "sˤifr", "jamiːn", "xalf"),
        "zh": ("shang4 hai3", "shi2 bie2"),
    }.items()
    for phones in words
)

VARIED: Final = Mixture(recorded=0.25, spliced=0.4, dressed=0.8, narrow=0.3, smooth=0.4)
LONGER: Final = replace(VARIED, recorded=0.4, narrow=0.35)
# Most of the recorded words in every batch, so that they are told from each other.
PEOPLE: Final = replace(VARIED, recorded=0.75, spliced=0.1, exchanged=0.4)
BALANCED: Final = replace(PEOPLE, recorded=0.4, spliced=0.4)

STAGES: Final[dict[str, tuple[WordEmbedderConfig, Stage]]] = {
    "conformer-dev": (OURS, Stage(3700, 1e-3, 8, DEVELOPMENT)),
    # In the recordings that are hardest on validation nothing is above 4 kHz.
    "conformer": (OURS, Stage(600, 4e-4, 8, start="conformer-dev", mixture=Mixture(narrow=0.4))),
    "conformer-longer": (
        OURS,
        Stage(1500, 5e-4, 8, start="conformer", reading=1.0, mixture=VARIED, kept=0.5),
    ),
    # Phonemes first: where the steps know none, all words are one point, and stay it.
    "near-first": (NEAR, Stage(600, 3e-3, 8, DEVELOPMENT, objective="reading", mixture=VARIED)),
    "near-reading": (
        NEAR,
        Stage(1800, 2e-3, 8, DEVELOPMENT, "near-first", "reading", mixture=VARIED),
    ),
    "near-dev": (
        NEAR,
        Stage(1200, 1e-3, 8, DEVELOPMENT, "near-reading", reading=2.0, mixture=VARIED),
    ),
    "near": (NEAR, Stage(800, 6e-4, 8, start="near-dev", reading=2.0, mixture=VARIED)),
    # Of the two networks this one had learned less, and finds more of the words it never heard.
    "near-longer": (NEAR, Stage(1800, 1e-3, 8, start="near", mixture=LONGER)),
    "near-people": (
        NEAR,
        Stage(2200, 8e-4, 4, start="near-longer", mixture=PEOPLE, kept=0.5),
    ),
    "near-balanced": (
        NEAR,
        Stage(1000, 5e-4, 4, start="near-people", reading=1.0, mixture=BALANCED),
    ),
    "conformer-people": (
        OURS,
        Stage(1600, 5e-4, 4, start="conformer-longer", reading=1.0, mixture=PEOPLE, kept=0.5),
    ),
    # The papers' networks, with our loss, then with theirs: begun with it, both put all words into
    # one point and stay there.
    "transformer-first": (PAPER, Stage(850, 5e-4, 8)),
    "transformer": (PAPER, Stage(300, 1e-4, 8, start="transformer-first", objective="triplets")),
    "lstm-first": (LSTM, Stage(500, 1e-3, 8)),
    "lstm": (LSTM, Stage(200, 2e-4, 8, start="lstm-first", objective="triplets")),
}
# Checkpoint → the network.
MEASURED: Final = {
    "words": "conformer-people",
    "words-near": "near-balanced",
    "words-conformer": "conformer-people",
    "words-transformer": "transformer",
    "words-lstm": "lstm",
}
SHIPPED: Final = ("words", "words-near")
BESIDE: Final = {"words": ("words-near",)}  # checkpoints whose vectors are joined to its own

RECIPE: Final = {
    name: partial(align, config=config, stage=stage) for name, (config, stage) in STAGES.items()
}
