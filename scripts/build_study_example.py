"""Make the sounds of the listening tests that are shipped, the example and the blind vote: our
sentences through our own voice conversions.

Run as `python -m scripts.build_study_example`, with the trained checkpoints in place.
"""

import os
from pathlib import Path
from typing import Final

import numpy as np
import soundfile

from earshot.core.paths import ASSETS
from earshot.media.audio.load import match_loudness
from earshot.provenance.mark import NO_MARK
from earshot.study.library import EXAMPLE, VOTE
from earshot.systems.voice_conversion import VoiceConversion

EXAMPLES: Final = ASSETS / "examples"
SYSTEMS: Final = {  # of the tab, by the test whose YAML names them too
    EXAMPLE: ("continuous", "units-512x2", "units-64", "vqvae-512"),
    VOTE: ("continuous", "units-512", "units-64", "vqvae-512"),
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
    """Write an Ogg file, or a FLAC file, three times as large."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, match_loudness(waveform, rate, LEVEL), rate)


def main() -> None:
    os.environ[NO_MARK] = "1"  # raters are to judge the systems alone
    for test, systems in SYSTEMS.items():
        for system in systems:
            convert = VoiceConversion.from_pretrained(system, device="cpu")
            for stimulus, voice in VOICES.items():
                speech = convert(EXAMPLES / f"{stimulus}.ogg", voice).converted
                write(test / system / f"{stimulus}.ogg", speech.waveform, speech.sample_rate)
    # The attention check: a clear sentence, and the same buried in noise.
    clear, rate = soundfile.read(EXAMPLES / "woman-lighthouse.ogg", dtype="float32")
    noise = np.random.default_rng(0).standard_normal(len(clear)).astype(np.float32)
    write(EXAMPLE / "check" / "clear.ogg", clear, rate)
    write(EXAMPLE / "check" / "buried.ogg", 0.3 * clear + NOISE * noise, rate)


if __name__ == "__main__":
    main()
