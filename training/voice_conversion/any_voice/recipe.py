"""What is trained: each part goes on from its state, up to its number of steps."""

from collections.abc import Callable
from pathlib import Path

from training.voice_conversion.any_voice.conversion import train_conversion
from training.voice_conversion.any_voice.system import Schedule
from training.voice_conversion.any_voice.vocoder import train_vocoder

RECIPE: dict[str, Callable[[Path, str], None]] = {
    "conversion-first": lambda run, name: train_conversion(run, name, 10_600, Schedule(6000, 6000)),
    # Another 500 steps let the classifier that judges conversions find its feet.
    "conversion": lambda run, name: train_conversion(
        run, name, 4000, Schedule(0, 500, 1000), "conversion-first", 4e-4
    ),
    "vocoder": lambda run, name: train_vocoder(run, name, 7000),
}
