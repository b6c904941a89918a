"""How near synthetic speech is to what was really said.

Shapes: T samples at 16 kHz, N recordings, M talkers, D the size of a voice.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Final

import numpy as np
from scipy.signal import correlate

from media.audio.features import SAMPLE_RATE
from media.audio.intelligibility import intelligibility
from media.audio.load import match_loudness
from training.common.corpora import LEVEL

QUALITIES: Final = ("stoi", "estoi", "pesq")
PESQ_INSTALLED: Final = find_spec("pesq") is not None
PESQ_LOWEST: Final = 1.043  # the least that P.862.2 maps to: 0.999 + 4 / (1 + exp(4.506))
MOST_LATE: Final = 0.08  # s
STEP: Final = SAMPLE_RATE // 1000  # samples in the 1 ms from one place of an envelope to the next
SMOOTH: Final = np.hanning(22)[1:-1]  # ms over which an envelope is smoothed


def comparable(waveform: np.ndarray, real: np.ndarray) -> np.ndarray:
    """The waveform at the level of all real speech, as long as the real one: (T',), (T,) → (T,).

    It is cut or filled up at the end. One with NaN, which nobody could play, counts as silence.
    """
    said = np.zeros_like(real)
    if np.isfinite(waveform).all():
        said[: len(waveform)] = waveform[: len(real)]
    return match_loudness(said, SAMPLE_RATE, LEVEL)


def quality(said: np.ndarray, real: np.ndarray) -> dict[str, float]:
    """STOI, ESTOI (pystoi) and wide-band PESQ (pesq) of two comparable waveforms (T,).

    What is silent has an intelligibility of 0, as nothing in it goes with the speech, and no PESQ,
    which is not defined then; nor has anything where the package pesq is not installed.
    """
    plain, extended = intelligibility(said, real)
    scores = {"stoi": plain, "estoi": extended}
    if PESQ_INSTALLED and said.any():
        package = import_module("pesq")
        on_error = package.PesqError.RETURN_VALUES
        score = float(package.pesq(SAMPLE_RATE, real, said, "wb", on_error=on_error))
        if score > 0:  # an error is negative, or not a number
            scores["pesq"] = score
    return scores


def mean_quality(scores: list[dict[str, float]]) -> dict[str, float]:
    """The mean of each measure that is defined for any recording.

    Where one has no PESQ and others do, it counts as the lowest there is, so that nothing is won
    by staying silent.
    """
    known = [name for name in QUALITIES if any(name in score for score in scores)]
    return {name: float(np.mean([s.get(name, PESQ_LOWEST) for s in scores])) for name in known}


def lateness(said: np.ndarray, real: np.ndarray) -> int:
    """Samples by which what is said comes after what was real, from −80 to 80 ms.

    It is where the envelopes, amplitudes over 20 ms, correlate best. STOI has no say in it: the
    best STOI of many would be too good for whatever is tried.
    """
    ours, theirs = _envelope(said), _envelope(real)
    if not ours.any():
        return 0
    most = round(MOST_LATE * SAMPLE_RATE / STEP)
    correlations = correlate(ours, theirs)[len(theirs) - 1 - most : len(theirs) + most]
    return (int(np.argmax(correlations)) - most) * STEP


def earlier(waveform: np.ndarray, samples: int) -> np.ndarray:
    """The waveform (T,) moved to begin so much earlier, or later, with silence in the gap."""
    padded = np.pad(waveform, abs(samples))
    return padded[abs(samples) + samples :][: len(waveform)]


def pitch_error(said: np.ndarray, real: np.ndarray) -> float | None:
    """Semitones between the medians of two pitch curves in Hz, 0 where unvoiced: (S,) each.

    None where either has no voice.
    """
    if not (said.any() and real.any()):
        return None
    return float(12 * abs(np.log2(np.median(said[said > 0]) / np.median(real[real > 0]))))


def voice_ranks(said: np.ndarray, voices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The share of the other talkers who sound more like it than the right one: (N,).

    said (N, D) and voices (M, D): unit vectors; right (N,): the place of each one's talker. 0 is
    best, and 0.5 is what guessing gives.
    """
    nearness = said @ voices.T
    own = nearness[np.arange(len(said)), right]
    return (nearness > own[:, None]).sum(axis=1) / max(len(voices) - 1, 1)


def _envelope(waveform: np.ndarray) -> np.ndarray:
    """Amplitudes, one a millisecond, less their mean: (T,) → (T // STEP,)."""
    cells = np.abs(waveform[: len(waveform) // STEP * STEP]).reshape(-1, STEP).mean(axis=1)
    smooth = np.convolve(cells, SMOOTH / SMOOTH.sum(), mode="same")
    return smooth - smooth.mean()
