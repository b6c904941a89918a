"""The door to voice conversion: a model by its name, its checkpoint's folder or a hub id."""

from pathlib import Path
from typing import Final

from earshot.core.paths import CHECKPOINTS
from earshot.pretrained.checkpoint import kind_of, locate, read_config
from earshot.systems.voice_conversion.any_voice import AnyVoiceConversion
from earshot.systems.voice_conversion.converter import Converter
from earshot.systems.voice_conversion.settings import CONTINUOUS, MODELS
from earshot.systems.voice_conversion.vqvae import VQVAEConversion

# A key of a checkpoint's config → the class that converts by its networks.
KINDS: Final = {
    "adapter": AnyVoiceConversion,
    "vqvae": VQVAEConversion,
    "kmeans": VQVAEConversion,
}


class VoiceConversion:
    """Speech in, and the same words in another voice out.

    ``convert = VoiceConversion.from_pretrained()``, then ``convert("in.wav", "TF2").converted``.
    """

    @staticmethod
    def from_pretrained(
        name: str | Path = CONTINUOUS, device: str = "auto", checkpoints: Path = CHECKPOINTS
    ) -> Converter:
        """Load a converter. The models of one checkpoint share its networks, which are loaded once
        for as long as one of them is in use.

        name: one of settings.MODELS ("continuous", "units-512", "vqvae-64" …), whose checkpoint is
        in the folder ``checkpoints``; else the folder of a checkpoint, or ``USER/REPO``. Raises
        FileNotFoundError where there is none, CheckpointError for one that is not of voice
        conversion or cannot be used.
        """
        model = str(name) if str(name) in MODELS else None
        folder = locate(checkpoints / MODELS[model] if model else name)
        kind = kind_of(folder, read_config(folder), "voice conversion", KINDS)
        converter = KINDS[kind].load(folder, device)
        if model and isinstance(converter, AnyVoiceConversion):
            return converter.at(model)
        return converter
