"""Voice conversion: speech → units, which can be edited → the same words in another voice."""

from tabs.voice_conversion.live import LiveServer, Tickets
from tabs.voice_conversion.tab import MODELS, build

__all__ = ["MODELS", "LiveServer", "Tickets", "build"]
