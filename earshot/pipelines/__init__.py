"""One pipeline a task: from_pretrained → one typed call → a frozen result."""

from typing import TYPE_CHECKING

import lazy_loader

from earshot.core.errors import InputError as InputError

# Loaded when first used, for torch takes seconds to import.
__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "lip_to_speech": ["LipToSpeech"],
        "sound_search": ["SoundSearch"],
        "voice_conversion": ["VoiceConversion"],
        "words": ["Words"],
    },
)

if TYPE_CHECKING:
    from earshot.pipelines.lip_to_speech import LipToSpeech as LipToSpeech
    from earshot.pipelines.sound_search import SoundSearch as SoundSearch
    from earshot.pipelines.voice_conversion import VoiceConversion as VoiceConversion
    from earshot.pipelines.words import Words as Words
