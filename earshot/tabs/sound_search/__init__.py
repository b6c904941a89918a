"""Sound search: a text or a sound → ranked sounds of a library, and where in them they match."""

from earshot.tabs.sound_search.library import DemoLibrary
from earshot.tabs.sound_search.tab import EXAMPLES, MODELS, build

__all__ = ["EXAMPLES", "DemoLibrary", "MODELS", "build"]
