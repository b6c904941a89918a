"""Lip to speech: the system that the tab offers.

A lip reader over mouth crops, a face encoder that suggests a voice, and a decoder of log-mel
frames; with another voice, the words are spoken by ``any-voice`` of voice conversion.
"""

from pathlib import Path

import earshot
from earshot.systems.registry import system


@system("lip_to_speech", "lip-to-speech", "Words and voice from a face", needs=["lip-to-speech"])
def lip_to_speech(checkpoints: Path, device: str) -> "earshot.LipToSpeech":
    """Load the lip reader and what speaks."""
    return earshot.LipToSpeech.from_pretrained(checkpoints / "lip-to-speech", device)
