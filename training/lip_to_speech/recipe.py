"""The recipe: what is trained, in which order, for how long: one entry a network.

Importing the recipe needs torch and numpy only. Stages that analyse audio import what they need
when they run.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from earshot.models.lip_to_speech import (
    FaceEncoderConfig,
    LipReaderConfig,
    VoiceEncoderConfig,
    WordReaderConfig,
)
from training.lip_to_speech.eigenlips import train_eigenlips
from training.lip_to_speech.readers import Stage, WordStage, train_reader, train_words
from training.lip_to_speech.voices import train_faces, train_vocoder, train_voices

BASE: Final = LipReaderConfig()
LONG: Final = replace(BASE, dropout=0.2)  # against overfitting in long training
LONGER: Final = replace(LONG, inner_dropout=0.1)
SMALLER: Final = replace(LONGER, width=160, inner=384)
# With a frozen front-end.
FROZEN: Final = partial(Stage, start="clear", rendered=True, stoi_weight=3.0, views=6)
HALF: Final = FROZEN(SMALLER, 1400, 1e-3, videos="av-sync-2")
READERS: Final = {
    # Recorded videos only; then the synthetic heads too, who are in the app's examples.
    "studio": Stage(BASE, 3000, 1e-3),
    "rendered": Stage(BASE, 3800, 7e-4, start="studio", rendered=True),
    "parallel": Stage(BASE, 4500, 8e-4, start="rendered", rendered=True),
    # From that state, to compare the decoders.
    "no-points": Stage(BASE, 800, 5e-4, start="parallel", rendered=True),
    "autoregressive": Stage(
        replace(BASE, decoder="autoregressive"), 800, 5e-4, start="parallel", rendered=True
    ),
    # With the vocoder loss.
    "vocoder-loss": Stage(LONG, 5000, 5e-4, start="no-points", rendered=True, vocoder="vocoder"),
    # On videos whose audio was aligned with their frames, and aligned again.
    "synced": Stage(
        LONG,
        1500,
        4e-4,
        start="vocoder-loss",
        rendered=True,
        vocoder="synced-vocoder",
        videos="av-sync-1",
    ),
    "clear": Stage(
        LONG,
        2000,
        3e-4,
        start="synced",
        rendered=True,
        vocoder="synced-vocoder",
        videos="av-sync-2",
    ),
    # From half of the videos each: they find the A/V offset of the other half.
    "even": replace(HALF, half=0),
    "odd": replace(HALF, half=1),
    "longer": FROZEN(LONGER, 3000, 5e-4, videos="av-sync-3", mel_variance_scale=1.2),
}

# Videos with aligned audio → the readers that find their A/V offsets.
ALIGNED: Final = {
    "av-sync-1": ["vocoder-loss"],
    "av-sync-2": ["synced"],
    "av-sync-3": ["even", "odd"],
}

# Readers of words alone. By the first two, whose posteriors are averaged as those of the shipped
# readers are, the confidence in words of new speakers is calibrated.
CLIP_SHARE: Final = 0.5  # of all readers of the shipped checkpoint
WORDS: Final = WordReaderConfig(clip_share=CLIP_SHARE, dropout=0.2, inner_dropout=0.1)
NEW_SPEAKERS: Final = ("s4", "s11", "s26", "s31")  # to the first two
WORD_READERS: Final = {
    "words-left-out": WordStage(WORDS, 3000, left_out=NEW_SPEAKERS),
    "words-left-out-again": WordStage(WORDS, 3000, left_out=NEW_SPEAKERS, seed=1),
    "words": WordStage(WORDS, 3000),
}
CALIBRATION_READERS: Final = ["words-left-out", "words-left-out-again"]
FURTHER: Final = ["words"]  # whose posteriors are averaged with those of the shipped reader


def _reader(run: Path, name: str) -> None:
    train_reader(run, name, READERS[name])


def _word_reader(run: Path, name: str) -> None:
    train_words(run, name, WORD_READERS[name])


def _align(run: Path, name: str) -> None:
    from training.lip_to_speech.av_sync import av_sync

    av_sync(run, name, ALIGNED[name])


RECIPE: Final[dict[str, Callable[[Path, str], None]]] = {
    "voices": lambda run, name: train_voices(run, name, VoiceEncoderConfig(), 1500),
    "faces": lambda run, name: train_faces(run, name, FaceEncoderConfig()),
    "eigenlips": train_eigenlips,
    **{name: _reader for name, stage in READERS.items() if not (stage.vocoder or stage.views)},
    "vocoder": lambda run, name: train_vocoder(run, name, 1500, "parallel"),
    "vocoder-loss": _reader,
    "av-sync-1": _align,
    "synced-vocoder": lambda run, name: train_vocoder(run, name, 1500, "vocoder-loss", "av-sync-1"),
    "synced": _reader,
    "av-sync-2": _align,
    "clear": _reader,
    "even": _reader,
    "odd": _reader,
    "av-sync-3": _align,
    "longer": _reader,
    **dict.fromkeys(WORD_READERS, _word_reader),
}
# Checkpoint → the network.
MEASURED: Final = {
    "lip-to-speech": "longer",
    "lip-to-speech-autoregressive": "autoregressive",
    "lip-to-speech-no-points": "no-points",
}
SHIPPED: Final = "lip-to-speech"  # the one that the app uses
BASELINE: Final = "lip-to-speech-eigenlips"
VOCODER: Final = "vocoder-lips"  # the folder next to the shipped checkpoint
ANY_VOICE: Final = "any-voice"  # the folder next to it, which speaks in other voices
VOCODER_NETWORK: Final = "synced-vocoder"  # the network in it


def lineage(network: str) -> list[str]:
    """List the readers that a network was trained from, or that aligned its videos, the oldest
    first, and itself.
    """
    stage = READERS[network]
    before = [*filter(None, [stage.start]), *ALIGNED.get(stage.videos, [])]
    return list(dict.fromkeys([*(name for each in before for name in lineage(each)), network]))
