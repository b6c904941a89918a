"""Voice activity detection: segments above the noise that are voiced and vary as speech does."""

from typing import Final

import numpy as np
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from earshot.media.audio.features import log_bands
from earshot.media.audio.load import loudness
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE

FRAMES: Final = SAMPLE_RATE // HOP_LENGTH  # a second
DECIBELS: Final = 10 / np.log(10)  # in one unit of the natural logarithm of a power

LEVEL: Final = -23.0  # LUFS, at which all else is measured
QUIET_SHARE: Final = 15  # percent of the frames that count as noise, in every band
MAX_RANGE: Final = 25.0  # dB below the loudest band; anything softer counts as silence
MIN_ONSET: Final = 6.0  # dB above the noise, mean over bands, that a word must reach
SOUND: Final = 3.0  # dB above the noise down to which a word extends
MAX_GAP: Final = 0.25  # seconds; stop closures and pauses within a phrase are shorter
MAX_REACH: Final = 0.35  # seconds from the nearest voiced frame: [s], [sts]

PITCHES: Final = (65.0, 400.0)  # Hz
PITCH_WINDOW: Final = 640  # samples
PITCH_N_FFT: Final = 2048
PITCH_FRAMES: Final = 500  # that are looked at at once: all of a minute take 300 MB
MIN_AUTOCORRELATION: Final = 0.5  # of the normalised autocorrelation

# Speech is harmonic, its pitch glides, and its spectrum changes; notes, bells and machines lack one
# of the three. 0.5 % of recorded words, clean or in noise down to 10 dB, score less than this.
MIN_LIVELINESS: Final = 4.5  # ln(dB in 0.1 s) + 1.7 · share of gliding steps + 3 · harmonicity
GLIDING, HARMONIC = 1.7, 3.0
MIN_GLIDING: Final = 0.25  # share of gliding steps; a melody of fixed notes has fewer
MIN_UNMASKED: Final = 0.5  # lowest share of a frame's power that is taken as not noise
GLIDE: Final = (5.0, 200.0)  # cents per frame; larger steps are pitch errors and are ignored
LAG: Final = 5  # frames to either side between which the spectrum is compared
MIN_FRAMES: Final = 10  # frames; shorter segments cannot be classified and count as speech
MIN_SEGMENT: Final = 3  # frames; shorter segments are not speech


def words(waveform: np.ndarray) -> list[tuple[float, float]]:
    """Find the segments of speech in a recording (T,) at 16 kHz: (start, end) in seconds, in order.

    They do not depend on the recording's level, however quiet or loud it is. Pauses shorter than
    MAX_GAP belong to their segment. Sounds too short to classify count as speech; steady sounds,
    such as music and machines, do not.
    """
    if len(waveform) <= SAMPLE_RATE // 20 or not np.any(waveform):
        return []
    waveform = levelled(waveform)
    bands = uniform_filter1d(log_bands(waveform) * DECIBELS, 3, axis=0)
    noise = np.minimum(np.percentile(bands, QUIET_SHARE, axis=0), bands.max() - MAX_RANGE)
    above = np.maximum(bands - noise, 0.0)
    level = above.mean(axis=1)
    harmonicity, pitch = _harmonicity(waveform)
    voiced = (harmonicity > MIN_AUTOCORRELATION) & (level > SOUND)
    near_voice = maximum_filter1d(voiced.astype(np.uint8), 2 * round(MAX_REACH * FRAMES) + 1) > 0
    active = (level > SOUND) & near_voice
    cents = 1200 * np.abs(np.diff(np.log2(pitch), append=np.inf))
    change = _change(above)
    masked = np.exp(noise / DECIBELS).sum() / np.exp(bands / DECIBELS).sum(axis=1)
    segments = []
    for start, end in _joined(active, level):
        frames = np.arange(start, end)
        voiced_frames = frames[voiced[start:end]]
        if end - start < MIN_SEGMENT or len(voiced_frames) == 0:
            continue
        smooth = cents[voiced_frames][cents[voiced_frames] < GLIDE[1]]
        gliding = (smooth > GLIDE[0]).sum() / max(len(smooth), 1)
        clear = np.maximum(1 - masked[voiced_frames], MIN_UNMASKED)
        liveliness = (
            np.log(change[frames[active[start:end]]].mean())
            + GLIDING * gliding
            + HARMONIC * np.median(harmonicity[voiced_frames] / clear)
        )
        if end - start < MIN_FRAMES or (liveliness > MIN_LIVELINESS and gliding > MIN_GLIDING):
            segments.append((start / FRAMES, end / FRAMES))
    return segments


def levelled(waveform: np.ndarray) -> np.ndarray:
    """Bring a recording (T,) at 16 kHz that is not silent to LEVEL; its peaks may be over 1."""
    gain = 10 ** ((LEVEL - loudness(waveform, SAMPLE_RATE)) / 20)
    return (waveform * gain).astype(np.float32)


def _joined(active: np.ndarray, level: np.ndarray) -> list[tuple[int, int]]:
    """Find runs of active frames that reach MIN_ONSET, as [start, end); gaps shorter than MAX_GAP
    are closed.
    """
    runs: list[tuple[int, int]] = []
    for start, end in np.flatnonzero(np.diff(active, prepend=False, append=False)).reshape(-1, 2):
        if level[start:end].max() < MIN_ONSET:
            continue
        if runs and start - runs[-1][1] < MAX_GAP * FRAMES:
            start = runs.pop()[0]
        runs.append((int(start), int(end)))
    return runs


def _change(above: np.ndarray) -> np.ndarray:
    """Average the change of the spectrum's shape (S, bands) in dB around each frame: (S,)."""
    shape = np.pad(above - above.mean(axis=1, keepdims=True), ((LAG, LAG), (0, 0)))
    return np.abs(shape[2 * LAG :] - shape[: -2 * LAG]).mean(axis=1)


def _harmonicity(waveform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Measure how periodic each frame is, whether or not it is voiced, by the best peak of its
    autocorrelation, divided by that of its window (Boersma 1993), and the frequency in Hz to which
    the peak belongs: (T,) → (S,), (S,). For F0 see track_pitch, which tracks voiced frames only.
    """
    padded = np.pad(waveform, PITCH_WINDOW // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, PITCH_WINDOW)[::HOP_LENGTH]
    frames = frames[: len(waveform) // HOP_LENGTH]
    window = np.hanning(PITCH_WINDOW)
    lowest, highest = (round(SAMPLE_RATE / hz) for hz in PITCHES[::-1])
    lags, of_window = slice(lowest, highest), _autocorrelation(window)
    peaks, periods = np.zeros(len(frames)), np.zeros(len(frames), int)
    for start in range(0, len(frames), PITCH_FRAMES):
        some = slice(start, start + PITCH_FRAMES)
        wave = _autocorrelation(frames[some] * window)
        relative = wave[:, lags] / np.maximum(wave[:, :1], 1e-9) / of_window[lags]
        periods[some] = lowest + relative.argmax(axis=1)
        peaks[some] = relative.max(axis=1)
    return peaks, SAMPLE_RATE / periods


def _autocorrelation(frames: np.ndarray) -> np.ndarray:
    """Correlate frames (..., PITCH_WINDOW) with themselves at as many lags, that of the window
    itself starting at 1.
    """
    power = np.abs(np.fft.rfft(frames, PITCH_N_FFT)) ** 2
    lags = np.fft.irfft(power)[..., :PITCH_WINDOW]
    return lags / lags[0] if frames.ndim == 1 else lags
