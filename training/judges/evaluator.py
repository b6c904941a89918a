"""The networks that evaluate conversions, and the k-means units that are the VQ-VAE's baseline."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn

from earshot.core.paths import CHECKPOINTS
from training.common.checkpoints import update_metrics, write_weights
from training.judges.recogniser import Recogniser
from training.judges.speaker_encoder import SpeakerEncoder

FOLDER: Final = CHECKPOINTS / "evaluation"


@dataclass(frozen=True, eq=False)
class EvaluationModels:
    """A recogniser, a speaker encoder, and centroids (128, 39) of normalised MFCC."""

    recogniser: Recogniser
    speaker_encoder: SpeakerEncoder
    centroids: np.ndarray

    @classmethod
    def load(cls, folder: Path = FOLDER) -> "EvaluationModels":
        """Load the evaluation models. Raises FileNotFoundError where they have not been trained."""
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        recogniser = Recogniser(config["recogniser_width"])
        encoder = SpeakerEncoder(config["speaker_width"], config["speaker_embedding"])
        networks = nn.ModuleDict({"recogniser": recogniser, "speaker_encoder": encoder})
        centroids = weights.pop("centroids").float().numpy()
        networks.load_state_dict(
            {n: w.float() if w.is_floating_point() else w for n, w in weights.items()}
        )
        networks.eval().requires_grad_(False)
        return cls(recogniser, encoder, centroids)

    def save(self, folder: Path, measured: dict[str, Any]) -> None:
        """Write config, weights in half precision, and metrics with what was measured."""
        config = {
            "recogniser_width": self.recogniser.width,
            "speaker_width": self.speaker_encoder.width,
            "speaker_embedding": self.speaker_encoder.size,
        }
        networks = nn.ModuleDict(
            {"recogniser": self.recogniser, "speaker_encoder": self.speaker_encoder}
        )
        weights = {**networks.state_dict(), "centroids": torch.from_numpy(self.centroids)}
        write_weights(folder, config, weights)
        update_metrics(folder, measured)
