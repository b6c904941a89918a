"""Live: a visitor speaks, and hears themselves in another voice while they speak."""

from tabs.voice_conversion.live.panel import LivePanel
from tabs.voice_conversion.live.server import LiveServer
from tabs.voice_conversion.live.tickets import Tickets

__all__ = ["LivePanel", "LiveServer", "Tickets"]
