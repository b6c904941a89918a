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
from training.lip_to_speech.voices import train_voices

STUDIO: Final = LipReaderConfig()
READERS: Final = {
    # Real films only; then painted talkers too, who are the app's examples.
    "studio": Stage(STUDIO, 3000, 1e-3),
    "no-points": Stage(replace(STUDIO, points=0), 3000, 1e-3),
    "parallel": Stage(STUDIO, 800, 5e-4, start="studio", painted=True),
    "autoregressive": Stage(
        replace(STUDIO, decoder="autoregressive"), 800, 5e-4, start="studio", painted=True
    ),
}
RECIPE: Final[dict[str, Callable[[Path, str], None]]] = {
    "voices": lambda run, name: train_voices(run, name, VoiceEncoderConfig(), 1500),
    "faces": lambda run, name: train_faces(run, name, FaceEncoderConfig()),
    "eigenlips": train_eigenlips,
    **{reader: lambda run, name: train_reader(run, name, READERS[name]) for reader in READERS},
}
# Checkpoint → the network.
MEASURED: Final = {
    "lip-to-speech": "parallel",
    "lip-to-speech-autoregressive": "autoregressive",
    "lip-to-speech-studio": "studio",
    "lip-to-speech-no-points": "no-points",
}
SHIPPED: Final = ("lip-to-speech",)
BASELINE: Final = "lip-to-speech-eigenlips"
