"""What is trained, in which order, for how long: one entry a network."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from models.lip_reader import LipReaderConfig
from models.voice_encoder import VoiceEncoderConfig
from training.lip_to_speech.reader import train_reader
from training.lip_to_speech.voices import train_voices

RECIPE: Final[dict[str, Callable[[Path, str], None]]] = {
    "voices": lambda run, name: train_voices(run, name, VoiceEncoderConfig(), 1500),
    "parallel": lambda run, name: train_reader(run, name, LipReaderConfig(), 4000),
}
