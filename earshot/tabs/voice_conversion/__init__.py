"""Voice conversion: speech → units, which can be edited → the same words in another voice."""

from earshot.tabs.voice_conversion.live import LiveServer
from earshot.tabs.voice_conversion.tab import build
from earshot.tabs.voice_conversion.view import first_card

__all__ = ["LiveServer", "build", "first_card"]
