"""What is trained, in which order, for how long: one entry a network."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from models.face_encoder import FaceEncoderConfig
from models.lip_reader import LipReaderConfig
from models.voice_encoder import VoiceEncoderConfig
from training.lip_to_speech.data.av_sync import sync
from training.lip_to_speech.train.eigenlips import train_eigenlips
from training.lip_to_speech.train.faces import train_faces
from training.lip_to_speech.train.reader import Stage, train_reader
from training.lip_to_speech.train.vocoder import train_vocoder
from training.lip_to_speech.train.voices import train_voices

STUDIO: Final = LipReaderConfig()
PIXELS: Final = replace(STUDIO, points=0)  # of the mouth only
LONG: Final = replace(PIXELS, dropout=0.2)  # so that many steps do not learn films by heart
LONGER: Final = replace(LONG, inner_dropout=0.1)
SMALLER: Final = replace(LONGER, width=160, inner=384)
# Of what comes after the eye only.
AFTER: Final = partial(Stage, start="clear", painted=True, envelopes=3.0, looks=6)
HALF: Final = AFTER(SMALLER, 1400, 1e-3, films="sync-again")
READERS: Final = {
    # Real films only; then painted talkers too, who are the app's examples.
    "studio": Stage(STUDIO, 3000, 1e-3),
    "painted": Stage(STUDIO, 3800, 7e-4, start="studio", painted=True),
    "parallel": Stage(STUDIO, 4500, 8e-4, start="painted", painted=True),
    # From that state, to compare: with the places of the lips, without, and step by step.
    "points": Stage(STUDIO, 800, 5e-4, start="parallel", painted=True),
    "no-points": Stage(PIXELS, 800, 5e-4, start="parallel", painted=True),
    "autoregressive": Stage(
        replace(STUDIO, decoder="autoregressive"), 800, 5e-4, start="parallel", painted=True
    ),
    # Through a vocoder.
    "heard": Stage(LONG, 5000, 5e-4, start="no-points", painted=True, ear="vocoder"),
    # On films whose sound was moved to fit their pictures, and moved again.
    "synced": Stage(
        LONG, 1500, 4e-4, start="heard", painted=True, ear="synced-vocoder", films="sync"
    ),
    "clear": Stage(
        LONG,
        2000,
        3e-4,
        start="synced",
        painted=True,
        ear="synced-vocoder",
        films="sync-again",
    ),
    # Anew, from half of the films: tells how late the sound of the others is.
    "even": replace(HALF, half=0),
    "odd": replace(HALF, half=1),
    # For longer.
    "longer": AFTER(LONGER, 3000, 5e-4, films="in-step", contrast=1.2),
}

# Films whose sound is moved → the readers who tell where to.
MOVED: Final = {"sync": ["heard"], "sync-again": ["synced"], "in-step": ["even", "odd"]}


def _reader(run: Path, name: str) -> None:
    train_reader(run, name, READERS[name])


def _moved(run: Path, name: str) -> None:
    sync(run, name, MOVED[name])


RECIPE: Final[dict[str, Callable[[Path, str], None]]] = {
    "voices": lambda run, name: train_voices(run, name, VoiceEncoderConfig(), 1500),
    "faces": lambda run, name: train_faces(run, name, FaceEncoderConfig()),
    "eigenlips": train_eigenlips,
    **{name: _reader for name, stage in READERS.items() if not (stage.ear or stage.looks)},
    "vocoder": lambda run, name: train_vocoder(run, name, 1500, "parallel"),
    "heard": _reader,
    "sync": _moved,
    "synced-vocoder": lambda run, name: train_vocoder(run, name, 1500, "heard", "sync"),
    "synced": _reader,
    "sync-again": _moved,
    "clear": _reader,
    "even": _reader,
    "odd": _reader,
    "in-step": _moved,
    "longer": _reader,
}
# Checkpoint → the network.
MEASURED: Final = {
    "lip-to-speech": "longer",
    "lip-to-speech-autoregressive": "autoregressive",
    "lip-to-speech-no-points": "no-points",
    "lip-to-speech-points": "points",
}
SHIPPED: Final = "lip-to-speech"  # the one that the app uses
BASELINE: Final = "lip-to-speech-eigenlips"
VOCODER: Final = "vocoder-lips"  # the folder beside the shipped checkpoint
SPEAKS: Final = "synced-vocoder"  # the network in it


def lineage(network: str) -> list[str]:
    """The readers that it went on from, or that moved the sound of its films, the first first, and
    itself."""
    stage = READERS[network]
    before = [*filter(None, [stage.start]), *MOVED.get(stage.films, [])]
    return list(dict.fromkeys([*(name for each in before for name in lineage(each)), network]))
