"""Voice conversion: speech → content, or units of it → the same words in another voice."""

from typing import TYPE_CHECKING

import lazy_loader

# Loaded when first used, for torch takes seconds to import.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "any_voice": ["AnyVoiceConversion"],
        "converter": ["Content", "Conversion", "Converter", "Voice"],
        "linear": ["LinearVC"],
        "settings": ["MUTED"],
        "system": ["VoiceConversion"],
        "units": ["Units"],
        "vqvae": ["VQVAEConversion"],
    },
)

if TYPE_CHECKING:
    from earshot.pretrained.voice import Voice as Voice
    from earshot.systems.voice_conversion.any_voice import (
        AnyVoiceConversion as AnyVoiceConversion,
    )
    from earshot.systems.voice_conversion.converter import Content as Content
    from earshot.systems.voice_conversion.converter import Conversion as Conversion
    from earshot.systems.voice_conversion.converter import Converter as Converter
    from earshot.systems.voice_conversion.linear import LinearVC as LinearVC
    from earshot.systems.voice_conversion.settings import MUTED as MUTED
    from earshot.systems.voice_conversion.system import VoiceConversion as VoiceConversion
    from earshot.systems.voice_conversion.units import Units as Units
    from earshot.systems.voice_conversion.vqvae import VQVAEConversion as VQVAEConversion
