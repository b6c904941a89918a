"""What is trained: each part goes on from its state, up to its number of steps."""

from collections.abc import Callable
from pathlib import Path

from training.voice_conversion.anyone.conversion import train_conversion

RECIPE: dict[str, Callable[[Path, str], None]] = {
    "conversion": lambda run, name: train_conversion(run, name, 100_000),
}
