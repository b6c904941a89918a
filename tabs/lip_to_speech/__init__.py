"""Lip to speech: video of a speaking face, without its sound → what the lips said, aloud."""

from tabs.lip_to_speech.tab import HEADS, MODEL, build

__all__ = ["HEADS", "MODEL", "build"]
