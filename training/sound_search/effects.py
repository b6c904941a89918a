"""Fit the embedder over a pretrained encoder of sound effects, in seconds: only the keys of kinds
are trained step by step.

The encoder's classifiers know the categories of the Universal Category System
(https://universalcategorysystem.com), in alphabetical order, and each lacks a few; their names are
nowhere in the package: which category each output stands for is found here.

Shapes: N sounds, H = 2 C numbers that the encoder hears in the blocks of a sound, O outputs of its
classifiers, K kinds, G categories, D dimensions, W width of sentence vectors.
"""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.models.sound_search.effects_embedder import (
    CHANNELS,
    CLASSIFIERS,
    N_CATEGORIES,
    PHRASE_SCALE,
    EffectsEmbedder,
    EffectsEmbedderConfig,
)
from training.common.loop import save
from training.sound_search.batches import SoundDataset
from training.sound_search.train import Stage, train_keys

PHRASES: Final = Path(__file__).with_name("categories.json")
MIN_SHARE_STD: Final = 0.02  # added to that of shares of categories
MAX_WIDTH: Final = 250  # D, at most
SHRINKAGE: Final = 0.6  # of the covariance within groups, towards a multiple of the identity
# Recordings of a kind, from which on rendered sounds of it are another group.
MIN_RECORDINGS: Final = 8
MAX_COUNT: Final = 40  # sounds of a group, at most, that add to the weight of its mean
N_FEATURES: Final = 2 * CHANNELS[-1]  # numbers of a sound, after which those of its outputs come
MIN_STD_HEARD: Final = 1e-3  # added to the standard deviation
MIN_STD_OUTPUT: Final = 0.2

Group = tuple[str, bool]  # of which kind, and whether rendered apart from recordings of it


def phrases() -> list[tuple[int, str]]:
    """Read the phrases that describe each category, with its number."""
    table = json.loads(PHRASES.read_text(encoding="utf-8"))
    return [(number, text) for number, texts in enumerate(table.values()) for text in texts]


def aligned(logs: np.ndarray, kinds: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Find the categories of outputs, (O,), that keep their order and fit best, by the sum over
    outputs of the correlation, over kinds, of what an output says with the share of its category.

    logs (N, O): standardised logarithms of the outputs for clips of these kinds (N,), numbers from
    0; shares (K, G): of the categories that sentences about each kind attend to.
    """
    counts = np.bincount(kinds, minlength=len(shares))
    means = np.zeros((len(shares), logs.shape[1]))
    np.add.at(means, kinds, logs)
    means /= counts[:, None]
    standard = (shares - shares.mean(axis=0)) / (shares.std(axis=0) + MIN_SHARE_STD)
    fit = (means - means.mean(axis=0)).T @ standard / len(shares)  # (O, G)
    outputs, categories = fit.shape
    best = np.full((outputs + 1, categories + 1), -np.inf)
    best[0] = 0.0
    for o in range(1, outputs + 1):
        for c in range(1, categories + 1):
            best[o, c] = max(best[o, c - 1], best[o - 1, c - 1] + fit[o - 1, c - 1])
    chosen, o = [], outputs
    for c in range(categories, 0, -1):
        if o and best[o, c] > best[o, c - 1]:
            chosen.append(c - 1)
            o -= 1
    return np.array(chosen[::-1])


def fit_effects(run: Path, name: str, stage: Stage) -> None:
    """Write run/name.pt: the embedder fitted to the clips and captions of a stage."""
    began = time.monotonic()
    sounds = SoundDataset(run, stage.folds, stage.left_out(run))
    kinds = sounds.written
    clips = [clip for clip in sounds.clips if clip["kind"] in kinds]
    effects = np.stack([clip["effects"] for clip in clips])  # of the variants of each clip
    features, outputs = (
        effects[:, :, :N_FEATURES].reshape(-1, N_FEATURES),
        effects[:, 0, N_FEATURES:],
    )
    groups = groups_of([(clip["kind"], clip["synthetic"]) for clip in clips])
    names = sorted(set(groups))
    numbers = np.repeat([names.index(group) for group in groups], effects.shape[1])
    centre, projection = discriminants(features, numbers)
    places = _unit((features - centre) @ projection.T)
    values = [places[numbers == number].mean(axis=0) for number in range(len(names))]
    recorded = np.array([not clip["synthetic"] for clip in clips])
    mean = outputs[recorded].mean(axis=0)
    std = outputs[recorded].std(axis=0) + MIN_STD_OUTPUT
    phrase_vectors = sounds.vectors[sounds.table["phrases"]]
    phrase_categories = torch.tensor([number for number, _ in phrases()])
    texts = [sounds.vectors[sounds.table["written"][kind]].mean(dim=0) for kind in kinds]
    categories = output_categories(
        (outputs[recorded] - mean) / std,
        np.array([kinds.index(c["kind"]) for c in clips if not c["synthetic"]]),
        _attended(torch.stack(texts), phrase_vectors, phrase_categories),
    )
    config = EffectsEmbedderConfig(len(kinds), len(names), len(phrase_vectors), len(projection))
    network = EffectsEmbedder(config)
    weights = {
        "centre": centre,
        "projection.weight": projection,
        "group_values": _unit(np.stack(values)),
        "group_kinds": np.array([kinds.index(kind) for kind, _ in names]),
        "output_mean": mean,
        "output_std": std,
        "output_categories": categories,
    }
    network.load_state_dict(
        {
            **{key: torch.from_numpy(value) for key, value in weights.items()},
            "kind_keys": train_keys(sounds),
            "phrases": phrase_vectors,
            "phrase_categories": phrase_categories,
        }
    )
    save(run, name, config, network, {"hours": (time.monotonic() - began) / 3600})


def groups_of(clips: list[Group]) -> list[Group]:
    """Find the group of each clip, given by its kind and whether it is rendered: rendered sounds of
    a kind of which there are MIN_RECORDINGS recordings are a group of their own.
    """
    recordings = Counter(kind for kind, rendered in clips if not rendered)
    return [(kind, rendered and recordings[kind] >= MIN_RECORDINGS) for kind, rendered in clips]


def discriminants(features: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the directions that separate groups (linear discriminant analysis): the mean (H,) and a
    projection (D, H) of what is heard (N, H) less the mean; groups (N,): numbers from 0.

    The covariance within groups is shrunk (Friedman 1989, Regularized discriminant analysis).
    """
    mean, std = features.mean(axis=0), features.std(axis=0) + MIN_STD_HEARD
    standard = (features - mean) / std
    count = np.bincount(groups)
    means = np.stack([standard[groups == number].mean(axis=0) for number in range(len(count))])
    within = standard - means[groups]
    covariance = within.T @ within / len(within)
    identity = np.eye(len(covariance)) * np.trace(covariance) / len(covariance)
    values, vectors = np.linalg.eigh((1 - SHRINKAGE) * covariance + SHRINKAGE * identity)
    whitening = vectors / np.sqrt(values)
    weighted = np.sqrt(np.minimum(count, MAX_COUNT) / MAX_COUNT)[:, None] * means @ whitening
    _, _, directions = np.linalg.svd(weighted - weighted.mean(axis=0), full_matrices=False)
    projection = (whitening @ directions[: min(MAX_WIDTH, len(count) - 1)].T).T / std
    return mean.astype(np.float32), projection.astype(np.float32)


def output_categories(logs: np.ndarray, kinds: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Find the category of each output (O,), as ``aligned`` does for the outputs of each
    classifier.
    """
    ends = np.cumsum([*CLASSIFIERS.values()])[:-1]
    classes = np.unique(kinds)
    numbers = np.searchsorted(classes, kinds)
    parts = [aligned(part, numbers, shares[classes]) for part in np.split(logs, ends, axis=1)]
    return np.concatenate(parts)


def _attended(texts: Tensor, phrase_vectors: Tensor, phrase_categories: Tensor) -> np.ndarray:
    """Share out sentence vectors (K, W) among the categories of their phrases: (K, G)."""
    weights = (PHRASE_SCALE * F.normalize(texts, dim=1) @ phrase_vectors.t()).softmax(dim=1)
    shares = torch.zeros(len(texts), N_CATEGORIES).index_add_(1, phrase_categories, weights)
    return shares.numpy()


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
