"""Build assets/voices: a sentence in each target voice, for the voice cards of the tab.

Run as `python -m scripts.build_voice_samples`, with the trained checkpoints in place.
"""

import os

import soundfile

from earshot.core.paths import ROOT
from earshot.provenance.mark import NO_MARK
from earshot.systems.voice_conversion import VoiceConversion, settings
from earshot.systems.voice_conversion.settings import INTONATIONS, VOCODERS

SOURCE = ROOT / "assets" / "examples" / "woman-lighthouse.ogg"
VOICES = ROOT / "assets" / "voices"


def main() -> None:
    """Convert the sentence to every voice and write it as Ogg Opus."""
    os.environ[NO_MARK] = "1"  # which would be that of the machine that built them
    pipeline = VoiceConversion.from_pretrained(device="cpu")
    VOICES.mkdir(exist_ok=True)
    for voice in settings.VOICES:
        speech = pipeline(SOURCE, voice, VOCODERS[0], INTONATIONS[0]).converted
        soundfile.write(
            VOICES / f"{voice}.ogg",
            speech.waveform,
            speech.sample_rate,
            format="OGG",
            subtype="OPUS",
        )


if __name__ == "__main__":
    main()
