"""Log-F0 contours of speech: normalised cross-correlation and a best path, as RAPT (Talkin 1995).

Fifteen times as fast as pYIN, and it does not take silence for a voice of 65 Hz. Frames are those
of features.py: frame t is centred on t * HOP_LENGTH.

Shapes: T samples, S frames, C candidate pitches, L lags.
"""

from functools import cache
from typing import Final

import numpy as np
import scipy.fft
from numba import njit

from earshot.media.audio.features import log_mel, n_frames
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE

MIN_PITCH, MAX_PITCH = 60.0, 500.0  # Hz
MAX_VOICE: Final = 480.0  # Hz; from here to MAX_PITCH the best path is that of hum and noise
CANDIDATES: Final = 128  # a third of a semitone apart
RATE: Final = SAMPLE_RATE // 2  # Hz at which periods are looked for
AT_ONCE: Final = 500  # frames that are looked at: all of a minute take 100 MB
WINDOW: Final = 320  # samples at RATE that are held against their like a period later: 40 ms
LAGS: Final = int(RATE / MIN_PITCH) + 2
NOISE: Final = 1e-3  # of the power of loud frames: what is quieter than this has no pitch
SILENCE: Final = 1e-7  # energy of a window: digital silence has no pitch
LONG_LAG: Final = 0.3  # the longest lag loses this share: else every period's double ties with it
UNVOICED: Final = 0.1  # cost of calling a frame unvoiced, compared with its largest correlation
GLIDE: Final = 0.6  # cost of an octave between frames
SWITCH: Final = 0.5  # cost of beginning or ending to be voiced


def track_pitch(waveform: np.ndarray) -> np.ndarray:
    """Track the fundamental frequency in Hz, 0 where unvoiced: (T,) → float32 (S,)."""
    frames = n_frames(len(waveform))
    correlation = _correlation(waveform, frames)
    grid = _grid()
    lags = RATE / grid
    left = np.floor(lags).astype(int)
    weight = lags - left
    scores = correlation[:, left] * (1 - weight) + correlation[:, left + 1] * weight
    voiced_cost = 1 - scores * (1 - LONG_LAG * lags / LAGS)
    glide = GLIDE * np.log2(MAX_PITCH / MIN_PITCH) / (CANDIDATES - 1)
    path = _best_path(voiced_cost, UNVOICED + scores.max(axis=1), glide)
    pitch = RATE / _refined(correlation, lags[np.minimum(path, CANDIDATES - 1)])
    voiced = (path < CANDIDATES) & (pitch < MAX_VOICE)
    return np.where(voiced, pitch, 0.0).astype(np.float32)


def log_mel_and_pitch(waveform: np.ndarray) -> np.ndarray:
    """Compute of speech at 16 kHz (T,), as float32 (S, N_MELS + 1), the log-mel frames, and after
    them the binary logarithm of F0 in Hz, 0 where there is no voice.

    Where a voice is low, 80 mel bands hardly resolve its harmonics, and with them its pitch.
    """
    octaves = np.log2(np.maximum(track_pitch(waveform), 1.0))
    return np.column_stack([log_mel(waveform), octaves]).astype(np.float32)


def _correlation(waveform: np.ndarray, frames: int) -> np.ndarray:
    """Compute the normalised cross-correlation of each frame with itself later: (S, L + 1), at most
    1.
    """
    half = _halved(waveform)
    hop, span = HOP_LENGTH // 2, WINDOW + LAGS
    padded = np.pad(half, (span // 2, span + hop))
    size = scipy.fft.next_fast_len(span + 1, real=True)  # what wraps around is not looked at
    product = np.zeros((frames, LAGS + 1), np.float32)
    later = np.zeros((frames, LAGS + 1))  # energy of the window at each lag
    for start in range(0, frames, AT_ONCE):
        some = slice(start, min(start + AT_ONCE, frames))
        pieces = padded[hop * np.arange(some.start, some.stop)[:, None] + np.arange(span + 1)]
        pieces = pieces - pieces.mean(axis=1, keepdims=True)
        single = pieces.astype(np.float32)
        first, whole = (np.asarray(scipy.fft.rfft(x, size)) for x in (single[:, :WINDOW], single))
        product[some] = scipy.fft.irfft(np.conj(first) * whole, size)[:, : LAGS + 1]
        energy = np.cumsum(np.pad(pieces**2, ((0, 0), (1, 0))), axis=1)
        later[some] = (energy[:, WINDOW:] - energy[:, :-WINDOW])[:, : LAGS + 1]
    floor = NOISE * np.quantile(later[:, 0], 0.95) + SILENCE
    return product / np.sqrt((later[:, :1] + floor) * (later + floor))


@njit(cache=True)
def _best_path(voiced: np.ndarray, unvoiced: np.ndarray, glide: float) -> np.ndarray:
    """Find the cheapest sequence of states by dynamic programming; state C is unvoiced.

    voiced: costs (S, C); unvoiced: costs (S,); glide: cost of one candidate's distance. Returns
    (S,). The cheapest way to each candidate is found in two sweeps, from the lowest and from the
    highest, for a glide costs in proportion to its distance.
    """
    frames, states = voiced.shape
    cost, silent = voiced[0].copy(), unvoiced[0]
    previous = np.empty((frames, states + 1), np.int16)
    for t in range(1, frames):
        end = int(cost.argmin())
        begin, stop = silent + SWITCH, cost[end] + SWITCH
        previous[t, states] = end if stop < silent else states
        silent = min(stop, silent) + unvoiced[t]
        source = previous[t]
        source[0] = 0
        for c in range(1, states):
            glided = cost[c - 1] + glide
            source[c] = source[c - 1] if glided < cost[c] else c
            cost[c] = min(glided, cost[c])
        for c in range(states - 2, -1, -1):
            glided = cost[c + 1] + glide
            if glided < cost[c]:
                cost[c], source[c] = glided, source[c + 1]
        for c in range(states):
            if begin < cost[c]:
                cost[c], source[c] = begin, states
            cost[c] += voiced[t, c]
    path = np.empty(frames, np.int64)
    state = states if silent < cost.min() else int(cost.argmin())
    for t in range(frames - 1, -1, -1):
        path[t] = state
        state = previous[t, state] if t else state
    return path


def _refined(correlation: np.ndarray, lag: np.ndarray) -> np.ndarray:
    """Find the peak of a parabola through the correlation around a lag: (S,) → (S,)."""
    rows, middle = np.arange(len(lag)), np.round(lag).astype(int).clip(1, LAGS - 1)
    a, b, c = (correlation[rows, middle + k] for k in (-1, 0, 1))
    curve = a - 2 * b + c
    shift = np.where(curve < -1e-9, 0.5 * (a - c) / np.minimum(curve, -1e-9), 0.0)
    return np.where(np.abs(shift) <= 1, middle + shift, lag)


def _halved(waveform: np.ndarray) -> np.ndarray:
    """Halve the sampling rate, by a windowed sinc."""
    n = np.arange(-16, 17)
    kernel = 0.5 * np.sinc(n / 2) * np.hamming(len(n))
    return np.convolve(waveform, kernel, mode="same")[::2]


@cache
def _grid() -> np.ndarray:
    return np.geomspace(MIN_PITCH, MAX_PITCH, CANDIDATES)
