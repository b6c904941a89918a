"""Make the sounds of the ABX test of the mark: our sentences through our own voice conversion, with
it and without.

Run as `python -m scripts.build_mark_test`, with the trained checkpoints in place.
"""

import os
from itertools import product
from typing import Final

from earshot.core.paths import ROOT
from earshot.provenance.mark import NO_MARK, mark_speech
from earshot.systems.voice_conversion import VoiceConversion
from scripts.build_study_example import EXAMPLES, write
from scripts.build_study_example import VOICES as SENTENCES

OUT: Final = ROOT / "assets" / "mark_test"
VOICES: Final = ("Nell", "SM1")
NUMBER: Final = 1  # in the mark: of no installation


def main() -> None:
    os.environ[NO_MARK] = "1"
    convert = VoiceConversion.from_pretrained("continuous", device="cpu")
    for sentence, voice in product(SENTENCES, VOICES):
        speech = convert(EXAMPLES / f"{sentence}.ogg", voice).converted
        rate, plain, name = speech.sample_rate, speech.waveform, f"{sentence}-{voice}.flac"
        write(OUT / "unmarked" / name, plain, rate)
        write(OUT / "marked" / name, mark_speech(plain, rate, NUMBER), rate)


if __name__ == "__main__":
    main()
