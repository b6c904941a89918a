"""Build assets/examples: our own sentences, synthesised with freely licensed voices of flite.

Run as `python -m scripts.build_examples`; needs flite (Debian: apt-get install flite).
"""

import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import soundfile
import soxr

from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, match_loudness
from earshot.media.constants import SAMPLE_RATE

EXAMPLES = ASSETS / "examples"
LOUDNESS = -20.0  # LUFS
FADE = 0.03  # seconds: one voice was recorded with room noise
COMPRESSION = 0.75  # of libsndfile: about 64 kbit/s


class Example(NamedTuple):
    """A sentence and its voice. height: factor on F0 and formants of the voice."""

    name: str
    voice: str
    text: str
    height: float = 1.0


SENTENCES = [
    Example(
        "woman-lighthouse", "slt", "The keeper of the old lighthouse wrote a letter every day."
    ),
    Example("man-place-blue", "rms", "Place blue at F two now. Set green by K nine again."),
    Example("scot-digits", "awb", "Seven, three, nine, zero, two, five, eight, one."),
    Example(
        "child-train", "slt", "Can you tell me when the next train to the sea is leaving?", 1.18
    ),
]


def speak(example: Example) -> None:
    """Write the example as mono Ogg Opus."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "speech.wav"
        stretch = f"duration_stretch={example.height}"
        subprocess.run(
            ["flite", "-voice", example.voice, "--setf", stretch, "-t", example.text, path],
            check=True,
        )
        recording = load(path, SAMPLE_RATE)
    # Slower speech resampled to be faster: the same tempo, higher F0 and formants.
    waveform = soxr.resample(recording.waveform, SAMPLE_RATE * example.height, SAMPLE_RATE)
    ends = np.minimum(np.arange(len(waveform)), np.arange(len(waveform))[::-1])
    waveform = waveform * np.clip(ends / (FADE * SAMPLE_RATE), 0, 1)
    soundfile.write(
        EXAMPLES / f"{example.name}.ogg",
        match_loudness(waveform, SAMPLE_RATE, LOUDNESS),
        SAMPLE_RATE,
        format="OGG",
        subtype="OPUS",
        compression_level=COMPRESSION,
    )


if __name__ == "__main__":
    EXAMPLES.mkdir(exist_ok=True)
    for sentence in SENTENCES:
        speak(sentence)
