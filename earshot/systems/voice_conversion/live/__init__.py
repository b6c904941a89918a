"""Live voice conversion: samples in, and samples of the same words in another voice out."""

from typing import TYPE_CHECKING

import lazy_loader

# Loaded when first used, for torch takes seconds to import.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "choice": ["Choice"],
        "conversion": ["LiveConversion", "Timing"],
        "networks": ["LiveNetworks", "load_networks"],
        "process": ["LiveProcess", "LiveProcesses"],
        "session": ["LiveSession"],
    },
)

if TYPE_CHECKING:
    from earshot.systems.voice_conversion.live.choice import Choice as Choice
    from earshot.systems.voice_conversion.live.conversion import LiveConversion as LiveConversion
    from earshot.systems.voice_conversion.live.conversion import Timing as Timing
    from earshot.systems.voice_conversion.live.networks import LiveNetworks as LiveNetworks
    from earshot.systems.voice_conversion.live.networks import load_networks as load_networks
    from earshot.systems.voice_conversion.live.process import LiveProcess as LiveProcess
    from earshot.systems.voice_conversion.live.process import LiveProcesses as LiveProcesses
    from earshot.systems.voice_conversion.live.session import LiveSession as LiveSession
