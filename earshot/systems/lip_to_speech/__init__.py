"""Lip to speech: a video of a speaking face → what it said, in a voice that fits the face."""

from typing import TYPE_CHECKING

import lazy_loader

# Loaded when first used, for torch takes seconds to import.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"system": ["FaceVoice", "LipReading", "LipSpeech", "LipToSpeech"]}
)

if TYPE_CHECKING:
    from earshot.systems.lip_to_speech.system import FaceVoice as FaceVoice
    from earshot.systems.lip_to_speech.system import LipReading as LipReading
    from earshot.systems.lip_to_speech.system import LipSpeech as LipSpeech
    from earshot.systems.lip_to_speech.system import LipToSpeech as LipToSpeech
