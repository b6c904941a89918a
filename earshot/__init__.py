"""Earshot: four speech-and-sound systems, and listening tests to judge them with.

``from earshot import VoiceConversion, Words, SoundSearch, LipToSpeech``: each is imported, and
torch with it, when it is first asked for.
"""

import os
from typing import TYPE_CHECKING

# A thread of OpenBLAS that has nothing to do spins for 2 to the power of this many cycles before it
# sleeps. As numpy's wheels bring it that is some 100 ms after a product of large matrices, on cores
# that torch wants (benchmarks/idle_threads.md). It is read once, when numpy is loaded.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

import lazy_loader

from earshot.core.errors import InputError as InputError

if TYPE_CHECKING:
    from earshot.systems.lip_to_speech import LipToSpeech as LipToSpeech
    from earshot.systems.sound_search import SoundSearch as SoundSearch
    from earshot.systems.voice_conversion import VoiceConversion as VoiceConversion
    from earshot.systems.words import Words as Words

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "systems.lip_to_speech": ["LipToSpeech"],
        "systems.sound_search": ["SoundSearch"],
        "systems.voice_conversion": ["VoiceConversion"],
        "systems.words": ["Words"],
    },
)
