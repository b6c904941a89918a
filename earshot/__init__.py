"""Earshot: four speech-and-sound systems, and listening tests to judge them with.

``from earshot import VoiceConversion, Words, SoundSearch, LipToSpeech``: each is imported, and
torch with it, when it is first asked for.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from earshot.pipelines import LipToSpeech, SoundSearch, VoiceConversion, Words

# A thread of OpenBLAS that has nothing to do spins for 2 to the power of this many cycles before it
# sleeps. As numpy's wheels bring it that is some 100 ms after a product of large matrices, on cores
# that torch wants (benchmarks/idle_threads.md). It is read once, when numpy is loaded.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

__all__ = ["LipToSpeech", "SoundSearch", "VoiceConversion", "Words"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'earshot' has no attribute {name!r}")
    return getattr(import_module("earshot.pipelines"), name)
