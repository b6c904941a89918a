"""One pipeline a task: from_pretrained → one typed call → a frozen result."""

from media.errors import InputError
from pipelines.voice_conversion import VoiceConversion

__all__ = ["InputError", "VoiceConversion"]
