"""Objective quality of synthetic speech, given its reference.

Shapes: T samples at 16 kHz, N recordings, M speakers, D the size of a speaker embedding.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Final

import numpy as np
from scipy.signal import correlate

from earshot.media.audio.intelligibility import intelligibility
from earshot.media.audio.load import match_loudness
from earshot.media.constants import SAMPLE_RATE
from training.common.corpora import LEVEL

QUALITIES: Final = ("stoi", "estoi", "pesq")
PESQ_INSTALLED: Final = find_spec("pesq") is not None
MIN_PESQ: Final = 1.043  # the least that P.862.2 maps to: 0.999 + 4 / (1 + exp(4.506))
MAX_LAG: Final = 0.08  # s
STEP: Final = SAMPLE_RATE // 1000  # samples per value of an envelope: 1 ms
SMOOTH: Final = np.hanning(22)[1:-1]  # smoothing window of an envelope, in ms


def comparable(waveform: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Bring the waveform to LEVEL, and to the length of its reference: (T',), (T,) → (T,).

    It is cut or padded at the end. One with NaN, which cannot be played, counts as silence.
    """
    estimate = np.zeros_like(reference)
    if np.isfinite(waveform).all():
        estimate[: len(waveform)] = waveform[: len(reference)]
    return match_loudness(estimate, SAMPLE_RATE, LEVEL)


def quality(estimate: np.ndarray, reference: np.ndarray) -> dict[str, float]:
    """Measure STOI, ESTOI (pystoi) and wide-band PESQ (pesq) of two comparable waveforms (T,).

    Silence has an intelligibility of 0 and no PESQ, which is not defined for it. Without the
    package pesq nothing has a PESQ.
    """
    plain, extended = intelligibility(estimate, reference)
    scores = {"stoi": plain, "estoi": extended}
    if PESQ_INSTALLED and estimate.any():
        package = import_module("pesq")
        on_error = package.PesqError.RETURN_VALUES
        score = float(package.pesq(SAMPLE_RATE, reference, estimate, "wb", on_error=on_error))
        if score > 0:  # an error is negative, or not a number
            scores["pesq"] = score
    return scores


def mean_quality(scores: list[dict[str, float]]) -> dict[str, float]:
    """Average each measure that is defined for any recording.

    Where one has no PESQ and others do, it counts as the lowest score, so that silence does not
    pay.
    """
    names = [name for name in QUALITIES if any(name in score for score in scores)]
    return {name: float(np.mean([s.get(name, MIN_PESQ) for s in scores])) for name in names}


def lateness(estimate: np.ndarray, reference: np.ndarray) -> int:
    """Measure by how many samples the estimate is later than its reference, from −80 to 80 ms.

    The lag of the highest correlation of envelopes over 20 ms. The best STOI over lags would be
    biased upwards.
    """
    estimated, observed = _envelope(estimate), _envelope(reference)
    if not estimated.any():
        return 0
    most = round(MAX_LAG * SAMPLE_RATE / STEP)
    correlations = correlate(estimated, observed)
    correlations = correlations[len(observed) - 1 - most : len(observed) + most]
    return (int(np.argmax(correlations)) - most) * STEP


def earlier(waveform: np.ndarray, samples: int) -> np.ndarray:
    """Shift a waveform (T,) to begin so many samples earlier, padded with silence."""
    padded = np.pad(waveform, abs(samples))
    return padded[abs(samples) + samples :][: len(waveform)]


def pitch_error(estimate: np.ndarray, reference: np.ndarray) -> float | None:
    """Measure the semitones between the median F0s of two contours in Hz, 0 where unvoiced: (S,)
    each.

    None where either is unvoiced throughout.
    """
    if not (estimate.any() and reference.any()):
        return None
    medians = (np.median(contour[contour > 0]) for contour in (estimate, reference))
    return float(12 * abs(np.log2(np.divide(*medians))))


def voice_ranks(estimate: np.ndarray, voices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Measure the share of the other speakers whose voice is nearer than the right one's: (N,).

    estimate (N, D) and voices (M, D): unit vectors; right (N,): the index of each one's speaker. 0
    is best, 0.5 is chance.
    """
    similarity = estimate @ voices.T
    own = similarity[np.arange(len(estimate)), right]
    return (similarity > own[:, None]).sum(axis=1) / max(len(voices) - 1, 1)


def _envelope(waveform: np.ndarray) -> np.ndarray:
    """Measure amplitudes, one per millisecond, less their mean: (T,) → (T // STEP,)."""
    cells = np.abs(waveform[: len(waveform) // STEP * STEP]).reshape(-1, STEP).mean(axis=1)
    smooth = np.convolve(cells, SMOOTH / SMOOTH.sum(), mode="same")
    return smooth - smooth.mean()
