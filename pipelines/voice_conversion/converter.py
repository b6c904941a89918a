"""What all models of voice conversion have in common, whatever networks they are."""

from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from media.audio.load import Audio
from pipelines.speech import Speech
from pipelines.voice_conversion.any_voice import AnyVoiceConversion
from pipelines.voice_conversion.pipeline import VoiceConversion
from pipelines.voice_conversion.result import Conversion
from pipelines.voice_conversion.settings import ANY_VOICE, MODELS
from pipelines.voice_conversion.units import Units
from pipelines.voice_conversion.voice import Voice


class Converter(Protocol):
    """Speech → units → speech in another voice. vocoders, intonations: the choices of decode;
    voices: names that it takes as a target."""

    name: str
    codebook_size: int
    colors: tuple[str, ...]

    @property
    def vocoders(self) -> tuple[str, ...]: ...

    @property
    def intonations(self) -> tuple[str, ...]: ...

    @property
    def voices(self) -> Collection[str]: ...

    def __call__(
        self, audio: Audio, target: str | Voice, vocoder: str, intonation: str
    ) -> Conversion: ...

    def encode(self, audio: Audio) -> tuple[Speech, Units, tuple[str, ...]]: ...

    def decode(
        self, units: Units, target: str | Voice, vocoder: str, intonation: str
    ) -> Speech: ...


class Converters:
    """The models of settings.MODELS by name; the checkpoint that some share is loaded once."""

    def __init__(self, folder: Path, device: str = "auto") -> None:
        """folder: of the checkpoints."""
        self._folder, self._device = folder, device
        self._any_voice: AnyVoiceConversion | None = None

    def __call__(self, name: str) -> Converter:
        """Raises FileNotFoundError where the model's checkpoint is not in the folder."""
        folder = self._folder / MODELS[name].checkpoint
        if folder.name != ANY_VOICE:
            return VoiceConversion.from_pretrained(folder, self._device)
        if self._any_voice is None:
            self._any_voice = AnyVoiceConversion.from_pretrained(folder, self._device)
        return self._any_voice.at(name)
