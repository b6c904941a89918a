"""The recipe over the recogniser: each part goes on from its state, up to its length."""

from collections.abc import Callable
from pathlib import Path

from training.voice_conversion.any_voice.conversion import train_conversion
from training.voice_conversion.any_voice.loop import Length
from training.voice_conversion.any_voice.vocoder import train_vocoder

RECIPE: dict[str, Callable[[Path, str], None]] = {
    "conversion": lambda run, name: train_conversion(run, name, Length(steps=3_000)),
    "any-voice-vocoder": lambda run, name: train_vocoder(run, name, Length(steps=20_000)),
}
