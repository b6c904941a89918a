"""The networks of the words tab, in the order in which they are trained.

The first stages do not hear the words of DEVELOPMENT, on which the choices were made that decide
how words fare that nobody recorded; what is shipped goes on from there and hears them too.
"""

from functools import partial
from typing import Final

from media.phonemes import numbers
from models.word_embedder import ViewConfig, WordEmbedderConfig
from training.words.align import Stage, align
from training.words.zero_shot import READERS

PAPER: Final = WordEmbedderConfig()
LSTM: Final = WordEmbedderConfig(ViewConfig("lstm", 3, width=512), ViewConfig("lstm", 2, width=512))
OURS: Final = WordEmbedderConfig(
    # No word is disturbed twice alike: dropout has nothing to add, and takes a sixth of the time.
    ViewConfig("conformer", 4, 4, width=192, inner=512, dropout=0.0),
    ViewConfig("conformer", 2, 4, width=192, inner=512, dropout=0.0),
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

STAGES: Final[dict[str, tuple[WordEmbedderConfig, Stage]]] = {
    "conformer-dev": (OURS, Stage(3700, 1e-3, 8, DEVELOPMENT)),
    # In the recordings that are hardest on validation nothing is above 4 kHz.
    "conformer": (OURS, Stage(600, 4e-4, 8, start="conformer-dev", narrow=0.4)),
    # The papers' networks, with our loss, then with theirs: begun with it, both put all words into
    # one point and stay there.
    "transformer-first": (PAPER, Stage(850, 5e-4, 8)),
    "transformer": (PAPER, Stage(300, 1e-4, 8, start="transformer-first", triplets=True)),
    "lstm-first": (LSTM, Stage(500, 1e-3, 8)),
    "lstm": (LSTM, Stage(200, 2e-4, 8, start="lstm-first", triplets=True)),
}
# Checkpoint → the network.
MEASURED: Final = {
    "words": "conformer",
    "words-transformer": "transformer",
    "words-lstm": "lstm",
}
SHIPPED: Final = ("words",)

RECIPE: Final = {
    name: partial(align, config=config, stage=stage) for name, (config, stage) in STAGES.items()
}
