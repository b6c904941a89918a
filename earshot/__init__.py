"""Earshot: four speech-and-sound systems, and listening tests to judge them with.

``from earshot import VoiceConversion, Words, SoundSearch, LipToSpeech``: each is imported, and
torch with it, when it is first asked for.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# A thread of OpenBLAS that has nothing to do spins for 2 to the power of this many cycles before it
# sleeps. As numpy's wheels bring it that is some 100 ms after a product of large matrices, on cores
# that torch wants (benchmarks/idle_threads.md). It is read once, when numpy is loaded.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

from earshot.core.errors import InputError as InputError

if TYPE_CHECKING:
    from earshot.systems.lip_to_speech import LipToSpeech as LipToSpeech
    from earshot.systems.sound_search import SoundSearch as SoundSearch
    from earshot.systems.voice_conversion import VoiceConversion as VoiceConversion
    from earshot.systems.words import Words as Words

__all__ = ["InputError", "LipToSpeech", "SoundSearch", "VoiceConversion", "Words"]
_ROOMS = {
    "LipToSpeech": "lip_to_speech",
    "SoundSearch": "sound_search",
    "VoiceConversion": "voice_conversion",
    "Words": "words",
}


def __getattr__(name: str) -> Any:  # not by lazy_loader: training has torch and numpy alone
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"earshot.systems.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return __all__
