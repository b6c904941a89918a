"""What is trained, in which order, for how long: one entry a network."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from models.face_encoder import FaceEncoderConfig
from models.lip_reader import LipReaderConfig
from models.voice_encoder import VoiceEncoderConfig
from training.lip_to_speech.faces import train_faces
from training.lip_to_speech.reader import train_reader
from training.lip_to_speech.voices import train_voices

STEPS: Final = 4000
READERS: Final = {
    "parallel": LipReaderConfig(),
    "autoregressive": LipReaderConfig(decoder="autoregressive"),
    "no-points": LipReaderConfig(points=0),
}
RECIPE: Final[dict[str, Callable[[Path, str], None]]] = {
    "voices": lambda run, name: train_voices(run, name, VoiceEncoderConfig(), 1500),
    "faces": lambda run, name: train_faces(run, name, FaceEncoderConfig()),
    **{
        reader: lambda run, name: train_reader(run, name, READERS[name], STEPS)
        for reader in READERS
    },
}
# Checkpoint → the network.
MEASURED: Final = {
    "lip-to-speech": "parallel",
    "lip-to-speech-autoregressive": "autoregressive",
    "lip-to-speech-no-points": "no-points",
}
SHIPPED: Final = ("lip-to-speech",)
