"""Build the example that voice conversion shows before a visitor's first run.

Run as `python -m scripts.build_conversion_example`, with the trained checkpoints in place.
"""

import io
from dataclasses import replace
from typing import Final

import soundfile

from earshot.core.paths import ROOT
from earshot.media.audio.speech import Speech
from earshot.systems.voice_conversion import VoiceConversion
from earshot.systems.voice_conversion.settings import DEFAULT_VOICE
from earshot.tabs.components.timeline import SoundLanes
from earshot.tabs.voice_conversion.speaking import Speaking
from earshot.tabs.voice_conversion.view import ConversionResult, write_finished

SOURCE: Final = ROOT / "assets" / "examples" / "man-place-blue.ogg"


def compressed(sound: SoundLanes, speech: Speech) -> SoundLanes:
    """Compress the sound as Ogg, to a tenth of its size."""
    file = io.BytesIO()
    soundfile.write(file, speech.waveform, speech.sample_rate, format="OGG", subtype="VORBIS")
    return replace(sound, content=file.getvalue(), suffix="ogg")


def main() -> None:
    pipeline = VoiceConversion.from_pretrained(device="cpu")
    spoken = Speaking(DEFAULT_VOICE)
    choices = spoken.arguments(pipeline)
    pipeline(SOURCE, *choices)  # warm up, for the time that is shown
    conversion = pipeline(SOURCE, *choices)
    result = ConversionResult.of(conversion, pipeline, spoken)
    source = compressed(SoundLanes.of(conversion.source), conversion.source)
    converted = compressed(result.converted, conversion.converted)
    write_finished(replace(result, source=source, converted=converted))


if __name__ == "__main__":
    main()
