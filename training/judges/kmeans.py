"""Units by k-means on MFCC: the simplest units there are, for comparison."""

from pathlib import Path

import numpy as np
from sklearn.cluster import MiniBatchKMeans

from earshot.media.audio.features import mfcc
from training.common.corpora import speech_items, waveforms

K = 128
FRAMES = 200_000


def normalized_mfcc(waveform: np.ndarray) -> np.ndarray:
    """MFCC with each dimension at zero mean and unit variance over the recording: (S, 39)."""
    features = mfcc(waveform)
    return (features - features.mean(0)) / np.maximum(features.std(0), 1e-3)


def train_kmeans(data: Path, seed: int) -> np.ndarray:
    """Centroids (128, 39) of normalised MFCC frames of every fifth training recording."""
    items = [item for item in speech_items(data) if item.split == "train"][::5]
    frames = np.concatenate([normalized_mfcc(waveform) for _, waveform in waveforms(items)])
    chosen = np.random.default_rng(seed).permutation(len(frames))[:FRAMES]
    kmeans = MiniBatchKMeans(K, batch_size=4096, random_state=seed).fit(frames[chosen])
    return np.asarray(kmeans.cluster_centers_, np.float32)


def nearest(features: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """Index of the nearest centroid of each frame: (S, D), (K, D) → (S,)."""
    return ((centroids**2).sum(1) - 2 * features @ centroids.T).argmin(1)
