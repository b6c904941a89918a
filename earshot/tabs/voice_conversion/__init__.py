"""Voice conversion: speech → units, which can be edited → the same words in another voice."""

from earshot.tabs.voice_conversion.live import LiveServer
from earshot.tabs.voice_conversion.tab import build

__all__ = ["LiveServer", "build"]
