"""Voice conversion to and from any voice."""

from pipelines.any_voice.pipeline import AnyVoiceConversion
from pipelines.any_voice.voice import Voice

__all__ = ["AnyVoiceConversion", "Voice"]
