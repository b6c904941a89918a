"""Which category each output of aiSFX's classifiers stands for.

The classifiers know the categories of the Universal Category System
(https://universalcategorysystem.com), in alphabetical order, and each lacks a few; their names are
nowhere in the package.

Shapes: N clips, K kinds, O outputs of a classifier, G categories.
"""

import json
from pathlib import Path
from typing import Final

import numpy as np

PHRASES: Final = Path(__file__).with_name("categories.json")
MIN_STD: Final = 0.2  # added to that of logarithms of probabilities
MIN_SHARE_STD: Final = 0.02  # added to that of shares of categories


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
