"""The networks of a checkpoint, and the names that they and their config were saved under before.

The tables of names go when all weights are next trained.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor, nn

from earshot.models.lip_to_speech import (
    FaceEncoder,
    FaceEncoderConfig,
    LipReader,
    LipReaderConfig,
    WordReader,
    WordReaderConfig,
)
from earshot.pretrained.checkpoint import load_weights

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


class LipNetworks(NamedTuple):
    """The networks of a checkpoint. word_readers: further ones, whose posteriors of words are
    averaged with those of the reader."""

    reader: LipReader
    word_readers: list[WordReader]
    faces: FaceEncoder

    @classmethod
    def load(cls, folder: Path, config: dict[str, Any], device: torch.device) -> "LipNetworks":
        """Load the weights of a folder. config: with today's names.

        Raises CheckpointError where they do not fit the config.
        """
        reader = LipReader(LipReaderConfig(**config["reader"]))
        faces = FaceEncoder(FaceEncoderConfig(**config["faces"]))
        further = [WordReader(WordReaderConfig(**each)) for each in config["word_readers"]]
        together = nn.ModuleDict(
            {"reader": reader, "faces": faces, "word_readers": nn.ModuleList(further)}
        )
        load_weights(together, folder, device, WEIGHT_KEYS)
        return cls(reader, further, faces)


def averaged(logits: Sequence[Tensor]) -> Tensor:
    """Average the posteriors of CTC logits (…, W) of several readers: their logarithm (…, W)."""
    posteriors = torch.stack([each.float().log_softmax(dim=-1) for each in logits])
    return posteriors.logsumexp(dim=0) - math.log(len(logits))


def current_config(config: dict[str, Any]) -> dict[str, Any]:
    """Translate the config to today's names, and that of a checkpoint with one reader. Raises
    ValueError for a reader of landmarks."""
    reader = {READER_KEYS.get(name, name): value for name, value in config["reader"].items()}
    if reader.pop(LANDMARKS, 0):
        raise ValueError(f"{config['name']} reads landmarks of the lips: it cannot be loaded.")
    renamed = {CONFIG_KEYS.get(name, name): value for name, value in config.items()}
    renamed.pop("max_confidence", None)
    if "temperature" in renamed:
        renamed["calibration"] = {"temperature": renamed.pop("temperature")}
    return {"word_readers": [], **renamed, "reader": reader}
