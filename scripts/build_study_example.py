"""Make the sounds of the listening tests that are shipped, the example and the blind vote: our
sentences through our own voice conversions.

Run as `python -m scripts.build_study_example`, with the trained checkpoints in place.
"""

from pathlib import Path
from typing import Final

import numpy as np
import soundfile

from earshot.core.paths import ROOT
from earshot.media.audio.load import match_loudness
from earshot.study.design import spec
from earshot.study.library import VOTE
from earshot.systems.voice_conversion import VoiceConversion

EXAMPLES: Final = ROOT / "assets" / "examples"
OUT: Final = ROOT / "assets" / "study_example"
# (checkpoint, vocoder) of each system under test.
SYSTEMS: Final = {
    "512-griffin-lim": ("vqvae-512", "griffin-lim"),
    "512-neural": ("vqvae-512", "neural"),
    "128-neural": ("vqvae-128", "neural"),
    "64-neural": ("vqvae-64", "neural"),
}
# The voice that says each sentence: never the kind of voice that it came from.
VOICES: Final = {
    "man-place-blue": "TF2",
    "woman-lighthouse": "SM1",
    "scot-digits": "SF1",
    "child-train": "TM3",
}
LEVEL: Final = -23.0  # LUFS
NOISE: Final = 0.05  # RMS, over the sentence that nobody should prefer


def write(path: Path, waveform: np.ndarray, rate: int) -> None:
    """Write a FLAC file, or an Ogg file, a third of its size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, match_loudness(waveform, rate, LEVEL), rate)


def main() -> None:
    for system, (checkpoint, vocoder) in SYSTEMS.items():
        convert = VoiceConversion.from_pretrained(ROOT / "checkpoints" / checkpoint, device="cpu")
        for stimulus, voice in VOICES.items():
            speech = convert(EXAMPLES / f"{stimulus}.ogg", voice, vocoder).converted
            write(OUT / system / f"{stimulus}.flac", speech.waveform, speech.sample_rate)
    for system in spec.load(VOTE).systems:
        convert = VoiceConversion.from_pretrained(system, device="cpu")
        for stimulus, voice in VOICES.items():
            speech = convert(EXAMPLES / f"{stimulus}.ogg", voice).converted
            write(VOTE / system / f"{stimulus}.ogg", speech.waveform, speech.sample_rate)
    # The attention check: a clear sentence, and the same buried in noise.
    clear, rate = soundfile.read(EXAMPLES / "woman-lighthouse.ogg", dtype="float32")
    noise = np.random.default_rng(0).standard_normal(len(clear)).astype(np.float32)
    write(OUT / "check" / "clear.flac", clear, rate)
    write(OUT / "check" / "buried.flac", 0.3 * clear + NOISE * noise, rate)


if __name__ == "__main__":
    main()
