"""Live: a visitor speaks, and hears themselves in another voice while they speak."""

from tabs.voice_conversion.live.panel import live_panel
from tabs.voice_conversion.live.server import LiveServer

__all__ = ["LiveServer", "live_panel"]
