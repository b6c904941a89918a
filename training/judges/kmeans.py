"""Units by k-means on MFCC: the simplest units, for comparison."""

from pathlib import Path

import numpy as np
import torch

from earshot.media.audio.features import mfcc
from training.common.corpora import speech_items, waveforms
from training.common.kmeans import kmeans, nearest_centroids

K = 128
FRAMES = 200_000


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
