"""Sound search: the system that the tab offers.

Two networks that embed sounds and sentences in one space, as an ensemble: one over log-mel frames,
one over a pretrained encoder of sound effects. ``--sound-model`` puts another in their place: a
CLAP model of the Hugging Face hub, or checkpoints of one's own.
"""

from pathlib import Path

import earshot
from earshot.systems.registry import system

ENSEMBLE = ("sound-cnn", "sound-effects")


@system("sound_search", "sounds", "Sounds and sentences in one space", needs=ENSEMBLE)
def sounds(checkpoints: Path, device: str) -> "earshot.SoundSearch":
    """Load the ensemble, and the sentence encoder that it stands on."""
    folders = [checkpoints / name for name in ENSEMBLE]
    return earshot.SoundSearch.from_pretrained(folders, device)
