"""Voice conversion: speech → units, seen, heard and edited → the same words in another voice."""

from tabs.voice_conversion.tab import MODELS, build

__all__ = ["MODELS", "build"]
