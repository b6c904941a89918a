"""What is trained, in which order, for how long: one entry a network."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from models.face_encoder import FaceEncoderConfig
from models.lip_reader import LipReaderConfig
from models.voice_encoder import VoiceEncoderConfig
from training.lip_to_speech.eigenlips import train_eigenlips
from training.lip_to_speech.faces import train_faces
from training.lip_to_speech.reader import Stage, train_reader
from training.lip_to_speech.vocoder import train_vocoder
from training.lip_to_speech.voices import train_voices

STUDIO: Final = LipReaderConfig()
READERS: Final = {
    # Real films only; then painted talkers too, who are the app's examples.
    "studio": Stage(STUDIO, 3000, 1e-3),
    "painted": Stage(STUDIO, 3800, 7e-4, start="studio", painted=True),
    "parallel": Stage(STUDIO, 4500, 8e-4, start="painted", painted=True),
    # Beside it, from the same state.
    "autoregressive": Stage(
        replace(STUDIO, decoder="autoregressive"), 800, 5e-4, start="parallel", painted=True
    ),
    "no-points": Stage(replace(STUDIO, points=0), 800, 5e-4, start="parallel", painted=True),
    "heard": Stage(STUDIO, 1000, 4e-4, start="parallel", painted=True, heard=True),
}


def _reader(run: Path, name: str) -> None:
    train_reader(run, name, READERS[name])


RECIPE: Final[dict[str, Callable[[Path, str], None]]] = {
    "voices": lambda run, name: train_voices(run, name, VoiceEncoderConfig(), 1500),
    "faces": lambda run, name: train_faces(run, name, FaceEncoderConfig()),
    "eigenlips": train_eigenlips,
    **{name: _reader for name in READERS if name != "heard"},
    "vocoder": lambda run, name: train_vocoder(run, name, 1500),
    "heard": _reader,  # through that vocoder
}
# Checkpoint → the network.
MEASURED: Final = {
    "lip-to-speech": "heard",
    "lip-to-speech-autoregressive": "autoregressive",
    "lip-to-speech-no-points": "no-points",
}
SHIPPED: Final = ("lip-to-speech",)
BASELINE: Final = "lip-to-speech-eigenlips"
VOCODER: Final = "vocoder-lips"  # the folder beside the shipped checkpoint


def lineage(network: str) -> list[str]:
    """The readers that it went on from, the first first, and itself."""
    start = READERS[network].start
    return [*(lineage(start) if start else []), network]
