"""Sound search: text or a sound → the sounds of a library that fit, and where in them they do."""

from tabs.sound_search.tab import EXAMPLES, MODELS, build

__all__ = ["EXAMPLES", "MODELS", "build"]
