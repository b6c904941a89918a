"""Metrics in closed form: bitrate, mel-cepstral distortion, word error and equal error rate."""

from collections.abc import Iterable, Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein
from scipy.fft import dct

from earshot.media.audio.dtw import path_mean

CEPSTRA = 24
MIN_LEVEL = np.log(100.0)  # 40 dB below the loudest frame, as a logarithm of magnitude


def bitrate(streams: Iterable[np.ndarray], seconds: float) -> float:
    """Compute the bits per second of unit streams, as in ZeroSpeech 2019: n / D · H.

    n: units in all streams together, D: their whole duration in seconds, H = −Σ p log2 p: the
    entropy in bits of how often each unit occurs, whatever its neighbours.
    """
    units = np.concatenate(list(streams))
    _, counts = np.unique(units, return_counts=True)
    shares = counts / counts.sum()
    return float(len(units) / seconds * -(shares * np.log2(shares)).sum())


def mel_cepstral_distortion(log_mel: np.ndarray, reference: np.ndarray) -> float:
    """Compute (10 / ln 10) √(2 Σ_{d=1..24} (c_d − r_d)²) in dB, the mean over the frames of a DTW
    path.

    log_mel (S, bands) and reference (R, bands): natural logarithms of mel *magnitudes*. c are
    their mel-cepstra: log magnitude = Σ_d c_d cos(π d (m + ½) / bands) over bands m. c_0, the
    level, is left out, and so are the frames more than 40 dB below the loudest.
    """
    c, r = _cepstra(log_mel), _cepstra(reference)
    squares = (c**2).sum(1)[:, None] + (r**2).sum(1)[None] - 2 * c @ r.T
    frames = 10 / np.log(10) * np.sqrt(2 * np.maximum(squares, 0.0))
    return float(path_mean(np.ascontiguousarray(frames, np.float32)))


def _cepstra(log_mel: np.ndarray) -> np.ndarray:
    """Compute mel-cepstra 1 to 24 of the frames that are not silent: (S, bands) → (S', 24)."""
    level = log_mel.mean(1)
    loud = log_mel[level >= level.max() - MIN_LEVEL]
    cepstra = np.asarray(dct(loud, norm="ortho", axis=1))[:, 1 : CEPSTRA + 1]
    return np.sqrt(2 / log_mel.shape[1]) * cepstra


def word_error_rate(
    references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]]
) -> float:
    """Count substitutions, insertions and deletions in % of the words of the references."""
    errors = sum(Levenshtein.distance(r, h) for r, h in zip(references, hypotheses, strict=True))
    return 100.0 * errors / sum(map(len, references))


def equal_error(matches: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """Find the threshold at which misses and false alarms are equally frequent, and their share.

    A match is missed below the threshold, another is a false alarm at or above it.
    """
    thresholds = np.sort(np.concatenate([matches, others]))
    misses = np.searchsorted(np.sort(matches), thresholds) / len(matches)
    alarms = 1 - np.searchsorted(np.sort(others), thresholds) / len(others)
    best = np.argmin(np.abs(misses - alarms))
    return float(thresholds[best]), float(misses[best] + alarms[best]) / 2
