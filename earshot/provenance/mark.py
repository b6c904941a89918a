"""A mark in the sound of speech: it says that Earshot made it, and which installation.

A patchwork in log magnitudes (Bender et al. 1996), spread over time and frequency (Cox et al. 1997;
Kirovski and Malvar 2003): each cell of 40 ms in one of 56 bands is made a little louder or softer,
by a pattern of 2.56 s that everybody's Earshot knows. Half of the cells are the same for all; the
others say 16 bits, as two words of 256 random ones each. Gains are larger where the spectrum has a
valley, whose neighbours mask it. The filters have minimum phase, so that a stream is marked without
delay; what is in a stream and what is whole are marked alike.

It is found by correlation, at every offset and at speeds and pitches of 2.4 % more or less, of log
magnitudes that are whitened: from each the part is subtracted that its neighbours predict. It can
be removed by whoever means to, and what else it does not survive is in docs/provenance.md.

Shapes: T samples, N blocks or frames, C bands, F frequency bins, P places of the pattern.
"""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np
import soxr

from earshot.media.audio.speech import Speech
from earshot.media.constants import SAMPLE_RATE
from earshot.provenance.keys import installation_number

NO_MARK: Final = "EARSHOT_NO_MARK"  # in the environment, which processes of ours inherit
ON: Final = ("1", "true", "yes", "on")
KEY: Final = 20260802  # of the pattern; it is public

SLOTS: Final = 64  # of the pattern, in time
BLOCK: Final = 0.02  # seconds that are filtered at once
BLOCKS_PER_SLOT: Final = 2
LOWEST, HIGHEST, KNEE = 1000.0, 7200.0, 2500.0  # Hz: above the knee bands are ever wider
BANDS: Final = 56
WORDS: Final = 256  # that a part of the number is one of
PEAK_GAIN, VALLEY_GAIN = 2.2, 3.3  # dB, by how far a band is below those around it
TILT: Final = (1.4, 0.9)  # factors of it in the lowest and the highest band
RESPONSE: Final = 0.02  # seconds of the filters
MASKING: Final = (0.05, 0.2, 0.5, 1.0, 0.6, 0.35, 0.2, 0.1)  # power that bands spread, upwards most

WINDOW, HOP = 0.04, 0.01  # seconds, of the detector's frames
FRAMES_PER_SLOT: Final = 4
SHAPE: Final = (0.6, 1.0, 1.0, 0.6)  # how much of a slot's gain its frames have
# What a cell keeps of itself and the cells before and after it, in this band and those around it:
# the prediction error of log magnitudes, fitted to speech with noise (benchmarks/mark.py).
BEFORE: Final = (0.03, 0.02, 0.02, -0.02, -0.1, -0.02, 0.02, 0.02, 0.03)
NOW: Final = (-0.04, -0.12, -0.05, -0.28, 1.0, -0.28, -0.05, -0.12, -0.04)
MAX_DEVIATION: Final = 1.5  # standard deviations
FLOOR: Final = 1e-5  # of the mean power: what is under it is silence
MIN_FRAME_POWER: Final = 1e-3  # of the loudest frame's power: what is under it is no speech
MIN_BAND_POWER: Final = 3e-5  # of the loudest band's power in a frame
TEMPI: Final = tuple(np.arange(-0.024, 0.025, 0.004))
PITCHES: Final = (-0.02, -0.01, 0.0, 0.01, 0.02)
CANDIDATES: Final = 24
SECONDS: Final = 12.0  # that are searched at once
MAX_WINDOWS: Final = 12
# log10 of the probability that a score is reached without a mark, a Gaussian's tail: this less that
# times the square of the score, fitted to unmarked clips (benchmarks/mark.py).
TAIL: Final = (5.53, 0.163)
MAX_FALSE_ALARM: Final = -5.5
MIN_LEAD: Final = 1.0  # standard deviations, of a word over the next that could be meant


@dataclass(frozen=True)
class MarkReport:
    """What was found of a mark. present: whether it is there; score: of the correlation, in
    standard deviations; false_alarm: log10 of the probability that speech without a mark has that
    score; installation: its number, None where there is no
    mark or it cannot be read for certain.
    """

    present: bool
    score: float
    false_alarm: float
    installation: int | None


@dataclass(frozen=True, eq=False)
class MarkState:
    """The state of a stream that is marked: a value, which marking leaves alone.

    block: number of the next one; past: samples before it (T,); tail: what filters still sound
    (T,); response: of the last block's filter, (F,).
    """

    sample_rate: int
    block: int
    past: np.ndarray
    tail: np.ndarray
    response: np.ndarray | None


def marked(speech: Speech) -> Speech:
    """Mark speech as from this installation, unless the operator wants no marks."""
    if (number := number_in_marks()) is None:
        return speech
    from earshot.media.audio.features import log_mel  # late, for it loads SciPy

    waveform = mark_speech(speech.waveform, speech.sample_rate, number)
    mono = soxr.resample(waveform, speech.sample_rate, SAMPLE_RATE)
    return replace(speech, waveform=waveform, log_mel=log_mel(mono))


def number_in_marks() -> int | None:
    """Return the number of this installation; None where the operator wants no marks."""
    return None if os.environ.get(NO_MARK, "").lower() in ON else installation_number()


def mark_speech(waveform: np.ndarray, sample_rate: int, installation: int) -> np.ndarray:
    """Mark a waveform (T,): as long and as loud, float32. Silence stays silence, and what would
    pass full scale is scaled down to it.
    """
    block = block_samples(sample_rate)
    padded = np.pad(waveform, (0, -len(waveform) % block))
    samples, _ = mark_hop(begin(sample_rate), padded, installation)
    samples = samples[: len(waveform)]
    highest = max(1.0, float(np.abs(waveform).max(initial=0)))
    return samples * np.float32(min(1.0, highest / max(np.abs(samples).max(initial=0), 1e-9)))


def begin(sample_rate: int) -> MarkState:
    """Begin a stream, at a rate in Hz."""
    size, block = fft_size(sample_rate), block_samples(sample_rate)
    past, tail = np.zeros(size - block, np.float32), np.zeros(size, np.float32)
    return MarkState(sample_rate, 0, past, tail, None)


def mark_hop(
    state: MarkState, samples: np.ndarray, installation: int
) -> tuple[np.ndarray, MarkState]:
    """Mark the next samples (T,) of a stream, whole blocks of them: as many, and the state for the
    next.
    """
    rate, size, length = state.sample_rate, len(state.tail), block_samples(state.sample_rate)
    assert not len(samples) % length, "a stream is marked in whole blocks"
    if not len(samples):
        return samples, state
    context = np.concatenate([state.past, samples]).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(context, size)[::length]  # (N, size)
    levels = 10 * np.log10(
        band_power(np.square(np.abs(np.fft.rfft(windows * recent(size)))), rate) + 1e-12
    )
    slots = (state.block + np.arange(len(windows))) // BLOCKS_PER_SLOT % SLOTS
    gains = strengths(levels) * pattern(installation)[slots]
    responses = np.exp(gains.astype(np.float32) @ band_responses(rate))  # (N, F)
    before = responses[:1] if state.response is None else state.response[None]
    before = np.concatenate([before, responses[:-1]])
    # Each block fades from the filter before to its own.
    rise = ((np.arange(length) + 0.5) / length).astype(np.float32)
    blocks = samples.astype(np.float32).reshape(-1, length)
    spectra = np.fft.rfft(blocks * rise, size) * responses
    spectra += np.fft.rfft(blocks * (1 - rise), size) * before
    filtered = np.fft.irfft(spectra, size)
    total = np.zeros(len(samples) + size, np.float32)
    total[:size] = state.tail
    for number, sound in enumerate(filtered):
        total[number * length : number * length + size] += sound
    result = total[: len(samples)].reshape(-1, length) * blocks.any(axis=1, keepdims=True)
    later = MarkState(
        rate,
        state.block + len(blocks),
        context[len(context) - len(state.past) :],
        total[len(samples) :],
        responses[-1],
    )
    return result.reshape(-1), later


def find_mark(waveform: np.ndarray, sample_rate: int) -> MarkReport:
    """Look for a mark in a waveform (T,): in windows of SECONDS, of which the best counts."""
    samples = soxr.resample(np.asarray(waveform, np.float32), sample_rate, SAMPLE_RATE)
    length = round(SECONDS * SAMPLE_RATE)
    count = min(MAX_WINDOWS, max(1, math.ceil(len(samples) / length)))
    starts = np.linspace(0, max(0, len(samples) - length), count).astype(int)
    results = [search(samples[start : start + length]) for start in starts]
    score, number = max(results, key=lambda result: result[0])
    false_alarm = min(0.0, log_false_alarm(score) + math.log10(count))
    present = false_alarm <= MAX_FALSE_ALARM
    return MarkReport(present, score, false_alarm, number if present else None)


def search(samples: np.ndarray) -> tuple[float, int | None]:
    """Search samples (T,) at SAMPLE_RATE for the best score of any offset, tempo and pitch: the
    score, and the number that was read there, None where another may be meant.
    """
    power = frame_power(samples)
    if not power.any():
        return 0.0, None
    places = SLOTS * FRAMES_PER_SLOT
    _, roles, codes = layout()
    shape = np.tile(np.array(SHAPE, np.float32), SLOTS)[:, None]
    template = np.repeat(pattern(0) * (roles == 0), FRAMES_PER_SLOT, axis=0) * shape
    conjugate = np.conj(np.fft.rfft(template, axis=0))
    foldings = np.stack([f for pitch in PITCHES for f in folded(power, pitch)])
    spectra = np.fft.rfft(foldings, axis=1)
    scores = np.fft.irfft(np.einsum("npc,pc->np", spectra, conjugate), places)
    deviation = float(scores.std()) + 1e-12
    best = np.argpartition(scores.ravel(), -CANDIDATES)[-CANDIDATES:]
    cells = np.stack([np.roll(foldings[i // places], -(i % places), axis=0) for i in best])
    cells = (cells * shape).reshape(CANDIDATES, SLOTS, -1, BANDS).sum(axis=2)
    matches = [cells[:, roles == role] @ code.T for role, code in enumerate(codes, 1)]
    totals = scores.ravel()[best] + sum(match.max(axis=1) for match in matches)
    index = int(totals.argmax())
    score = float(totals[index]) / deviation / math.sqrt(2)
    # A word has half as many cells as are the same for all.
    second, first = np.partition([match[index] for match in matches], -2)[:, -2:].T
    if (first - second).min() < MIN_LEAD * deviation / math.sqrt(2):
        return score, None
    high, low = (int(match[index].argmax()) for match in matches)
    return score, high * WORDS + low


def folded(power: np.ndarray, pitch: float) -> Iterator[np.ndarray]:
    """Add up the whitened cells at each place of the pattern, of frames' power (N, F) at a relative
    pitch, for each of TEMPI: (P, C).
    """
    cells, places = whitened(band_power(power, SAMPLE_RATE / (1 + pitch))), SLOTS * FRAMES_PER_SLOT
    for tempo in TEMPI:
        count = round(len(cells) * (1 + tempo))
        index = np.minimum((np.arange(count) / (1 + tempo) + 0.5).astype(int), len(cells) - 1)
        padded = np.zeros((-(-count // places) * places, BANDS), np.float32)
        padded[:count] = cells[index]
        yield padded.reshape(-1, places, BANDS).sum(axis=0)


def frame_power(samples: np.ndarray) -> np.ndarray:
    """Compute the power of samples (T,) in frames of WINDOW, HOP apart: (N, F)."""
    hop, length = round(HOP * SAMPLE_RATE), round(WINDOW * SAMPLE_RATE)
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(samples, (0, length)), length)[::hop]
    window = np.hanning(length + 2)[1:-1].astype(np.float32)
    return np.square(np.abs(np.fft.rfft(frames * window, fft_size(SAMPLE_RATE))))


def whitened(power: np.ndarray) -> np.ndarray:
    """Whiten the log magnitudes of bands, of their power (N, C): standardised errors of prediction
    from the cells around, clipped; 0 in silence.
    """
    levels = 10 * np.log10(power + FLOOR * power.mean() + 1e-12).astype(np.float32)
    step, side = FRAMES_PER_SLOT, len(NOW) // 2
    padded = np.pad(levels - levels.mean(0), ((step, step), (side, side)), mode="reflect")
    errors = np.zeros_like(levels)
    for rows, kernel in ((2 * step, BEFORE), (step, NOW), (0, BEFORE)):
        row = padded[rows : rows + len(levels)]
        for column, weight in enumerate(kernel):
            errors += np.float32(weight) * row[:, column : column + BANDS]
    total = power.mean(axis=1, keepdims=True)
    active = (total > MIN_FRAME_POWER * total.max()) & (
        power > MIN_BAND_POWER * power.max(axis=1, keepdims=True)
    )
    variance = (errors**2 * active).sum(0) / np.maximum(active.sum(0), 1)
    return np.clip(errors / np.sqrt(variance + 1e-6), -MAX_DEVIATION, MAX_DEVIATION) * active


def log_false_alarm(score: float) -> float:
    """Compute log10 of the probability that 12 s without a mark reach a score."""
    return TAIL[0] - TAIL[1] * score**2


@cache
def layout() -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Lay out the pattern: signs (SLOTS, C) of all installations; which part of the number a cell
    is of, 1 or 2, else 0; and the words of each part, (WORDS, cells).
    """
    generator = np.random.default_rng(KEY)
    quarter = BANDS // 4
    row = np.repeat([0, 0, 1, 2], quarter)
    roles = np.stack([generator.permutation(row) for _ in range(SLOTS)])
    signs = generator.choice([-1.0, 1.0], (SLOTS, BANDS))
    first, second = (
        generator.choice([-1.0, 1.0], (WORDS, int((roles == role).sum()))) for role in (1, 2)
    )
    return signs, roles, (first, second)


@cache
def pattern(installation: int) -> np.ndarray:
    """Make the signs of all cells, with a number in them: (SLOTS, C)."""
    signs, roles, codes = layout()
    signs = signs.copy()
    for role, word in enumerate(divmod(installation, WORDS), 1):
        signs[roles == role] = codes[role - 1][word]
    return signs


def strengths(levels: np.ndarray) -> np.ndarray:
    """Choose the gain of each band in dB, of their levels (N, C) in dB."""
    spread = np.asarray(MASKING) / sum(MASKING)
    padded = np.pad(10 ** (levels / 10), ((0, 0), (4, 3)))
    around = sum(w * padded[:, 7 - k : 7 - k + BANDS] for k, w in enumerate(spread))
    depth = 10 * np.log10(around) - levels
    gain = PEAK_GAIN + (VALLEY_GAIN - PEAK_GAIN) * np.clip((depth + 3) / 9, 0, 1)
    return gain * np.linspace(*TILT, BANDS)


def edges() -> np.ndarray:
    """Compute the frequencies between bands in Hz: (C + 1,)."""
    limits = np.arcsinh(LOWEST / KNEE), np.arcsinh(HIGHEST / KNEE)
    return KNEE * np.sinh(np.linspace(*limits, BANDS + 1))


def band_power(power: np.ndarray, sample_rate: float) -> np.ndarray:
    """Add up the power (N, F) of frequency bins in bands: (N, C)."""
    cumulative = np.pad(np.cumsum(power, axis=1, dtype=np.float64), ((0, 0), (1, 0)))
    positions = np.minimum(edges() / sample_rate * 2 * (power.shape[1] - 1), power.shape[1])
    index = np.minimum(positions.astype(int), power.shape[1] - 1)
    share = positions - index
    sums = cumulative[:, index] * (1 - share) + cumulative[:, index + 1] * share
    return np.maximum(np.diff(sums, axis=1), 0)


def block_samples(sample_rate: int) -> int:
    """Count the samples of a block."""
    return round(BLOCK * sample_rate)


def fft_size(sample_rate: int) -> int:
    """Choose the size of the transforms: a power of 2 of 64 ms at least."""
    return 1 << math.ceil(math.log2(0.064 * sample_rate))


@cache
def recent(size: int) -> np.ndarray:
    """Make a window that looks at the latest samples most: (size,)."""
    return (np.hanning(size) * np.linspace(0.5, 1, size)).astype(np.float32)


@cache
def band_responses(sample_rate: int) -> np.ndarray:
    """Compute the complex log response of minimum phase that raises each band by 1 dB: (C, F)."""
    size = fft_size(sample_rate)
    hz = np.arange(size // 2 + 1) * sample_rate / size
    lower, upper = edges()[:-1, None], edges()[1:, None]
    gain = np.clip(np.minimum(hz - lower, upper - hz) / 12 + 0.5, 0, 1) * math.log(10) / 20
    cepstrum = np.fft.irfft(gain)
    time = np.arange(size) / sample_rate
    cepstrum[:, 1 : size // 2] *= 2
    cepstrum[:, size // 2 + 1 :] = 0
    cepstrum *= np.clip(1.5 - time / RESPONSE, 0, 1)
    return np.fft.rfft(cepstrum).astype(np.complex64)
