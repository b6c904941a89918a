"""Lip to speech: a video of a speaking face, without its audio → its words and its speech."""

from earshot.tabs.lip_to_speech.tab import HEADS, MODEL, build

__all__ = ["HEADS", "MODEL", "build"]
