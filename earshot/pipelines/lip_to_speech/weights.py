"""The names that the shipped weights and their config were saved under, and today's names.

The tables go when the weights are next trained.
"""

from typing import Any, Final

CONFIG_KEYS: Final = {"sure": "min_confidence", "talkers": "speakers"}
READER_KEYS: Final = {"deviation": "std"}
LANDMARKS: Final = "points"  # an input that readers once had; 0 in the config of all that are used
WEIGHT_KEYS: Final = {
    "reader.eye.blocks.0.past.": "reader.frontend.blocks.0.shortcut.",
    "reader.eye.blocks.1.past.": "reader.frontend.blocks.1.shortcut.",
    "reader.eye.blocks.2.past.": "reader.frontend.blocks.2.shortcut.",
    "reader.eye.": "reader.frontend.",
    "reader.reading.": "reader.ctc_head.",
    "reader.read.": "reader.ctc_embedding.",
    "reader.decoder.place.": "reader.decoder.phase.",
}


def current_config(config: dict[str, Any]) -> dict[str, Any]:
    """Translate the config to today's names. Raises ValueError for a reader of landmarks."""
    reader = {READER_KEYS.get(name, name): value for name, value in config["reader"].items()}
    if reader.pop(LANDMARKS, 0):
        raise ValueError(f"{config['name']} reads landmarks of the lips: it cannot be loaded.")
    renamed = {CONFIG_KEYS.get(name, name): value for name, value in config.items()}
    return renamed | {"reader": reader}
