"""The stages of training, in order, and the checkpoints that are exported.

The default is an ensemble of four networks: two over a recogniser's states, and two over log-mel
frames, whose recipe also has the networks that they are compared with.

The first stages do not train on the words of DEVELOPMENT. Choices that decide how well unrecorded
words are embedded were made on these words; the shipped networks then train on them too.
"""

from dataclasses import replace
from functools import partial
from typing import Final

from earshot.models.words.word_embedder import (
    PhonemeBottleneckConfig,
    ViewConfig,
    WordEmbedderConfig,
)
from training.words import g2p
from training.words.concatenation import DEVELOPMENT
from training.words.frames.batches import Mixture
from training.words.frames.stage import Stage, train_stage
from training.words.states import train as states

# Without dropout: augmentation regularises enough, and dropout takes up to a quarter of the time.
TRANSFORMER: Final = WordEmbedderConfig(  # Rhodes & Bains
    ViewConfig("transformer", 6, 4, dropout=0.0), ViewConfig("transformer", 4, 16, dropout=0.0)
)
LSTM: Final = WordEmbedderConfig(  # Settle et al. (2019)
    ViewConfig("lstm", 3, width=512, dropout=0.0), ViewConfig("lstm", 2, width=512, dropout=0.0)
)
CONFORMER: Final = WordEmbedderConfig(
    ViewConfig("conformer", 4, 4, width=192, inner=512, dropout=0.0),
    ViewConfig("conformer", 2, 4, width=192, inner=512, dropout=0.0),
    channels=32,
)
BOTTLENECK: Final = PhonemeBottleneckConfig(
    ViewConfig("conformer", 2, 4, width=192, inner=512, dropout=0.0),
    ViewConfig("conformer", 2, 4, width=192, inner=512, dropout=0.0),
    channels=32,
)

FRONT_END: Final = "front-end"  # the stage

VARIED: Final = Mixture(
    recorded=0.25, concatenated=0.4, channel_matched=0.8, narrow_band=0.3, liftered=0.4
)
LONGER: Final = replace(VARIED, recorded=0.4, narrow_band=0.35)
# Most of the recorded words in every batch, as each other's negatives.
PEOPLE: Final = replace(VARIED, recorded=0.75, concatenated=0.1, channel_swapped=0.4)
BALANCED: Final = replace(PEOPLE, recorded=0.4, concatenated=0.4)
# A third of the batch is synthetic, half of it in the voices of people; more noise.
VOICES: Final = replace(PEOPLE, recorded=0.35, concatenated=0.3, noisy=0.6)

# Chosen on validation speakers, with the weight of the start (docs/training_logs/words.md).
WITH_VOICES: Final = Stage(
    1500,
    5e-4,
    2,
    start="conformer-people",
    ctc_weight=1.0,
    mixture=VOICES,
    converted=True,
    wise_ft_alpha=0.3,
)
# Pitch as an input, and words that differ in their tones alone.
TONES: Final = replace(VOICES, tone_changed=0.08)
WITH_PITCH: Final = replace(WITH_VOICES, mixture=TONES, start="conformer-voices")
# Words spliced in the content of any-voice, for half of those concatenated as spectra; more noise.
SPLICING: Final = replace(TONES, concatenated=0.15, spliced=0.2, noisy=0.75)
WITH_SPLICED: Final = replace(WITH_PITCH, mixture=SPLICING, start="conformer-pitch")

# 290 s on one H200, of which CTC took a third; then 2.8 hours on one or two cores of a CPU.
OVER_STATES_STAGES: Final = {
    "states": states.Stage(2400, 1.2e-3, 260, falling=0.32, phonemes=1500, full=390),
    "states-longer": states.Stage(1270, 5e-4, 250, falling=0.6, start="states"),
}
STAGES: Final[dict[str, tuple[WordEmbedderConfig, Stage]]] = {
    "conformer-dev": (CONFORMER, Stage(3700, 1e-3, 8, DEVELOPMENT)),
    # The validation recordings with the most errors have nothing above 4 kHz.
    "conformer": (
        CONFORMER,
        Stage(600, 4e-4, 8, start="conformer-dev", mixture=Mixture(narrow_band=0.4)),
    ),
    "conformer-longer": (
        CONFORMER,
        Stage(1500, 5e-4, 8, start="conformer", ctc_weight=1.0, mixture=VARIED, wise_ft_alpha=0.5),
    ),
    # CTC first: with untrained posteriors all words have the same vector, and keep it.
    "bottleneck-first": (
        BOTTLENECK,
        Stage(600, 3e-3, 8, DEVELOPMENT, objective="ctc", mixture=VARIED),
    ),
    "bottleneck-ctc": (
        BOTTLENECK,
        Stage(1800, 2e-3, 8, DEVELOPMENT, "bottleneck-first", "ctc", mixture=VARIED),
    ),
    "bottleneck-dev": (
        BOTTLENECK,
        Stage(1200, 1e-3, 8, DEVELOPMENT, "bottleneck-ctc", ctc_weight=2.0, mixture=VARIED),
    ),
    "bottleneck": (
        BOTTLENECK,
        Stage(800, 6e-4, 8, start="bottleneck-dev", ctc_weight=2.0, mixture=VARIED),
    ),
    "bottleneck-longer": (BOTTLENECK, Stage(1800, 1e-3, 8, start="bottleneck", mixture=LONGER)),
    "bottleneck-people": (
        BOTTLENECK,
        Stage(2200, 8e-4, 4, start="bottleneck-longer", mixture=PEOPLE, wise_ft_alpha=0.5),
    ),
    "bottleneck-balanced": (
        BOTTLENECK,
        Stage(1000, 5e-4, 4, start="bottleneck-people", ctc_weight=1.0, mixture=BALANCED),
    ),
    "conformer-people": (
        CONFORMER,
        Stage(
            1600,
            5e-4,
            4,
            start="conformer-longer",
            ctc_weight=1.0,
            mixture=PEOPLE,
            wise_ft_alpha=0.5,
        ),
    ),
    "conformer-voices": (CONFORMER, WITH_VOICES),
    "bottleneck-voices": (
        BOTTLENECK,
        replace(WITH_VOICES, learning_rate=6e-4, start="bottleneck-balanced"),
    ),
    "conformer-pitch": (replace(CONFORMER, pitch=True), WITH_PITCH),
    "bottleneck-pitch": (
        replace(BOTTLENECK, pitch=True),
        replace(WITH_PITCH, learning_rate=6e-4, start="bottleneck-voices"),
    ),
    "conformer-spliced": (replace(CONFORMER, pitch=True), WITH_SPLICED),
    "bottleneck-spliced": (
        replace(BOTTLENECK, pitch=True),
        replace(WITH_SPLICED, learning_rate=6e-4, start="bottleneck-pitch"),
    ),
    # The papers' networks. From random weights their triplet loss collapses all words into one
    # point here, so they start with the contrastive loss. Of small batches more can be learned in
    # as many hours.
    "transformer-first": (TRANSFORMER, Stage(3200, 6e-4, 2, mixture=PEOPLE, n_words=48)),
    "transformer": (
        TRANSFORMER,
        Stage(
            2400,
            1e-4,
            2,
            start="transformer-first",
            objective="triplet",
            mixture=PEOPLE,
            n_words=48,
        ),
    ),
    "lstm-first": (LSTM, Stage(2000, 1e-3, 2, mixture=PEOPLE, n_words=48)),
    "lstm": (
        LSTM,
        Stage(600, 2e-4, 2, start="lstm-first", objective="triplet", mixture=PEOPLE, n_words=48),
    ),
    # Over the frames of a front end (prepare --front-end), whose width its arrays tell.
    FRONT_END: (replace(CONFORMER, channels=0, stack=2), Stage(3700, 1e-3, 8)),
}
# Checkpoint → the stage that its weights come from.
MEASURED: Final = {
    "words": "conformer-spliced",
    "words-bottleneck": "bottleneck-spliced",
    "words-conformer": "conformer-spliced",
    "words-transformer": "transformer",
    "words-lstm": "lstm",
    "words-front-end": FRONT_END,
}
SHIPPED: Final = ("words", "words-bottleneck")
OVER_STATES: Final = (*sorted(states.NETWORKS.values()),)
# Checkpoint → those whose vectors are concatenated with its own.
ENSEMBLES: Final = {"words": ("words-bottleneck", *OVER_STATES)}
DURATIONS: Final = (0.92, 1.0, 1.08)  # shares of it in which an ensemble hears a word over states

RECIPE: Final = {
    g2p.NAME: lambda run, name: g2p.train_g2p(run),
    **{
        name: partial(states.train_states, stage=stage)
        for name, stage in OVER_STATES_STAGES.items()
    },
}
_STAGES: Final = {
    name: partial(train_stage, config=config, stage=stage)
    for name, (config, stage) in STAGES.items()
}
LOG_MEL_RECIPE: Final = {name: part for name, part in _STAGES.items() if name != FRONT_END}
FRONT_END_RECIPE: Final = {FRONT_END: _STAGES[FRONT_END]}
