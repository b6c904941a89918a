"""Live: a visitor speaks, and hears themselves in another voice while they speak."""

from earshot.tabs.voice_conversion.live.panel import LivePanel
from earshot.tabs.voice_conversion.live.server import LiveServer

__all__ = ["LivePanel", "LiveServer"]
