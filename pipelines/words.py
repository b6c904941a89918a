"""Words: the systems that the tab offers, the default first.

Networks that embed the sound of a word and its phonemes in one space, as an ensemble: over log-mel
frames and over the states of a recogniser; ``words`` names the others in its config.
"""

from pathlib import Path

import earshot
from earshot.systems.registry import system


@system("words", "words", "Sound and phonemes in one space", needs=["words"])
def words(checkpoints: Path, device: str) -> "earshot.Words":
    """Load the ensemble, and what pronounces typed words."""
    return earshot.Words.from_pretrained(checkpoints / "words", device)


@system("words", "time-warping", "Time warping of MFCC", paper="Sakoe & Chiba 1978")
def time_warping() -> "earshot.systems.words.time_warping.TimeWarping":
    """Compare words without a network."""
    from earshot.systems.words.time_warping import TimeWarping  # late, for it loads torch

    return TimeWarping()
