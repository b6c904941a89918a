"""The models of voice conversion by name."""

from pathlib import Path

from earshot.systems.voice_conversion.any_voice import AnyVoiceConversion
from earshot.systems.voice_conversion.converter import VoiceConversion
from earshot.systems.voice_conversion.settings import ANY_VOICE, MODELS


class Converters:
    """The models of settings.MODELS by name; the checkpoint that some share is loaded once."""

    def __init__(self, folder: Path, device: str = "auto") -> None:
        """Keep the folder of the checkpoints."""
        self._folder, self._device = folder, device
        self._any_voice: AnyVoiceConversion | None = None

    def __call__(self, name: str) -> VoiceConversion:
        """Load a model. Raises FileNotFoundError where its checkpoint is not in the folder."""
        folder = self._folder / MODELS[name]
        if folder.name != ANY_VOICE:
            return VoiceConversion.from_pretrained(folder, self._device)
        if self._any_voice is None:
            loaded = VoiceConversion.from_pretrained(folder, self._device)
            assert isinstance(loaded, AnyVoiceConversion)
            self._any_voice = loaded
        return self._any_voice.at(name)
