"""Makes assets/examples: sentences of ours, spoken by voices of flite that anyone may use.

Run as `python -m scripts.build_examples`; needs flite (Debian: apt-get install flite).
"""

import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import soundfile
import soxr

from media.audio.load import load, match_loudness
from media.paths import ASSETS

EXAMPLES = ASSETS / "examples"
SAMPLE_RATE = 16_000  # Hz, that of the voices
LOUDNESS = -20.0  # LUFS
FADE = 0.03  # seconds, for one voice has the noise of its room
COMPRESSION = 0.75  # of libsndfile: about 64 kbit/s


class Example(NamedTuple):
    """height: of the fundamental and the resonances, against the voice's own."""

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
    """Writes the example as mono Ogg Opus."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "speech.wav"
        stretch = f"duration_stretch={example.height}"
        subprocess.run(
            ["flite", "-voice", example.voice, "--setf", stretch, "-t", example.text, path],
            check=True,
        )
        recording = load(path, SAMPLE_RATE)
    # Slower speech played faster: the same tempo, from a shorter vocal tract.
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
