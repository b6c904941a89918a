"""The networks that evaluate conversions, and the baseline of units, by k-means on MFCC."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.features import mfcc
from training.common.checkpoints import update_metrics, write_weights
from training.common.corpora import speech_items, waveforms
from training.common.kmeans import kmeans, nearest_centroids
from training.judges.recogniser import Recogniser
from training.judges.speaker_encoder import SpeakerEncoder

K = 128
FRAMES = 200_000
FOLDER: Final = CHECKPOINTS / "evaluation"


def normalized_mfcc(waveform: np.ndarray) -> np.ndarray:
    """Compute MFCC with each dimension at zero mean and unit variance over the recording: (S,
    39).
    """
    features = mfcc(waveform)
    return (features - features.mean(0)) / np.maximum(features.std(0), 1e-3)


def train_kmeans(data: Path, seed: int) -> np.ndarray:
    """Fit centroids (128, 39) of normalised MFCC frames of every fifth training recording."""
    items = [item for item in speech_items(data) if item.split == "train"][::5]
    frames = np.concatenate([normalized_mfcc(waveform) for _, waveform in waveforms(items)])
    chosen = np.random.default_rng(seed).permutation(len(frames))[:FRAMES]
    vectors = torch.from_numpy(frames[chosen].astype(np.float32))
    return kmeans(vectors, K, torch.Generator().manual_seed(seed))[0].numpy()


def nearest(features: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """Find the index of the nearest centroid of each frame: (S, D), (K, D) → (S,)."""
    return nearest_centroids(torch.from_numpy(features), torch.from_numpy(centroids)).numpy()


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
