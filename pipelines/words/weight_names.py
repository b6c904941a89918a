"""Names in checkpoints that were trained before modules and settings were renamed.

To be removed when the weights are next trained: checkpoints written today have the current names.
"""

from collections.abc import Mapping
from typing import Any, Final

# The beginning of a weight's name in the file → its name in the network.
EMBEDDER: Final[Mapping[str, str]] = {
    "near.": "local.",
    "heard.": "posterior_projection.",
    "reading.": "ctc_head.",
}
G2P: Final[Mapping[str, str]] = {"reader.": "letter_encoder.", "speaker.": "slot_encoder."}
_SETTINGS: Final[Mapping[str, str]] = {
    "near": "local_layers",
    "near_width": "local_width",
    "deviation": "std",
}


def embedder_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The ``network`` of a config.json with the current names of its settings.

    Before, all networks had the settings of the phoneme bottleneck: no layers meant that there was
    none.
    """
    settings = {_SETTINGS.get(name, name): value for name, value in values.items()}
    if not settings.get("local_layers"):
        settings.pop("local_layers", None)
        settings.pop("local_width", None)
    return settings


def ensemble_members(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The checkpoints whose vectors are concatenated with those of this one."""
    return tuple(config.get("ensemble_with", config.get("beside", ())))
