"""The tools that the makers of sounds share: noises, filters, envelopes, tones, struck bodies,
rooms.

Lengths are in seconds, rates and pitches in Hz, T60 (the time to fall by 60 dB) in seconds.
A signal is a float array (T,) at SAMPLE_RATE; a curve is such an array of slow values. Voices
are in `voice`.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import signal

SAMPLE_RATE = 32_000  # Hz
PEAK = -3.0  # dB, of every finished sound
EDGE = 0.004  # seconds of fade at both ends, so that nothing clicks

Signal = NDArray[np.floating]
Point = tuple[float, float]


@dataclass(frozen=True)
class Recipe:
    """One situation that can be heard: another generator gives another rendition of the recipe.

    kind: what sounds, one of few; name: unique, and the stem of the file; captions: how people
    would put it, in different styles; make: gives the sound at any level.
    """

    kind: str
    name: str
    captions: tuple[str, ...]
    make: Callable[[np.random.Generator], Signal]


def render(recipe: Recipe, seed: int) -> NDArray[np.float32]:
    """Render the recipe, (T,) at SAMPLE_RATE; the same seed gives the same rendition."""
    rng = np.random.default_rng([zlib.crc32(recipe.name.encode()), seed])
    return normalise(recipe.make(rng)).astype(np.float32)


# Time


def samples(seconds: float) -> int:
    """Count the samples that last that long."""
    return round(seconds * SAMPLE_RATE)


def clock(seconds: float) -> Signal:
    """Compute the time of every sample."""
    return np.arange(samples(seconds)) / SAMPLE_RATE


def silence(seconds: float) -> Signal:
    """Make zeros, to put sounds into with `add`."""
    return np.zeros(samples(seconds))


def add(ground: Signal, sound: Signal, at: float, gain: float = 1.0) -> None:
    """Add the sound to the ground in place, from that second on; what overhangs is cut off."""
    start = samples(at)
    part = sound[max(-start, 0) : max(len(ground) - start, 0)]
    start = max(start, 0)
    ground[start : start + len(part)] += gain * part


def mix(*sounds: Signal) -> Signal:
    """Add up sounds; the sum is as long as the longest."""
    total = np.zeros(max(map(len, sounds)))
    for sound in sounds:
        total[: len(sound)] += sound
    return total


def scatter(seconds: float, times: Iterable[float], grain: Callable[[], Signal]) -> Signal:
    """Put a new grain at each of the times."""
    ground = silence(seconds)
    for at in times:
        add(ground, grain(), at)
    return ground


def at_random(rng: np.random.Generator, seconds: float, rate: float | Signal) -> Signal:
    """Draw the times of events that are independent of each other: rate a second, or a curve of
    it.
    """
    most = float(np.max(rate))
    times = np.sort(rng.uniform(0, seconds, rng.poisson(most * seconds)))
    if isinstance(rate, np.ndarray):
        now = np.interp(times, np.linspace(0, seconds, len(rate)), rate)
        times = times[rng.uniform(0, most, len(times)) < now]
    return times


def in_step(rng: np.random.Generator, seconds: float, period: float, jitter: float) -> Signal:
    """Draw times one period apart, the first within one period; jitter is a share of the period."""
    times = np.arange(rng.uniform(0.1, 0.6) * period, seconds, period)
    return np.maximum(times + jitter * period * rng.standard_normal(len(times)), 0)


# Curves


def curve(seconds: float, *points: Point) -> Signal:
    """Draw straight lines through (time, value) points; values hold before and after them."""
    times, values = np.array(points).T
    return np.interp(clock(seconds), times, values)


def wander(
    rng: np.random.Generator, seconds: float, rate: float, low: float, high: float
) -> Signal:
    """Draw a smooth random curve between low and high, with about `rate` new values a second."""
    knots = max(round(seconds * rate), 1) + 4
    values = rng.uniform(low, high, knots)
    smooth = np.interp(clock(seconds) * rate + rng.uniform(0, 2), np.arange(knots), values)
    width = max(samples(0.5 / rate) // 2 * 2 + 1, 3)
    padded = np.pad(smooth, width // 2, mode="edge")
    window = np.hanning(width + 2)[1:-1]
    return signal.fftconvolve(padded, window / window.sum(), "valid")


def decay(seconds: float, t60: float, attack: float = 0.001) -> Signal:
    """Rise shortly to 1, then fall by 60 dB in t60."""
    t = clock(seconds)
    return np.minimum(t / attack, 1) * 10 ** (-3 * np.maximum(t - attack, 0) / t60)


def bump(seconds: float, peak: float = 0.5, sharpness: float = 1.0) -> Signal:
    """Rise and fall, rounded, over the whole length, highest at that share of it."""
    x = np.linspace(0, 1, samples(seconds))
    warped = np.where(x < peak, 0.5 * x / peak, 0.5 + 0.5 * (x - peak) / (1 - peak))
    return np.sin(np.pi * warped) ** (2 * sharpness)


# Noises and filters


def noise(rng: np.random.Generator, seconds: float, colour: float = 0.0) -> Signal:
    """Draw noise of unit level whose power falls as 1 / f**colour: 0 white, 1 pink, 2 brown."""
    return coloured(rng, seconds, *((hz, -10 * colour * np.log10(hz)) for hz in (20.0, 16_000.0)))


def coloured(rng: np.random.Generator, seconds: float, *points: Point) -> Signal:
    """Draw noise of unit level with the spectrum given by (Hz, dB) points, straight in log f."""
    return colour(rng.standard_normal(samples(seconds)), *points)


def colour(sound: Signal, *points: Point) -> Signal:
    """Filter the sound by a curve through (Hz, dB) points, straight in log f; then bring it to unit
    level.
    """
    n = len(sound)
    hz = np.fft.rfftfreq(n, 1 / SAMPLE_RATE)
    corners, gains = np.array(points).T
    gain = np.interp(np.log(np.maximum(hz, 1)), np.log(corners), gains)
    gain = np.where(hz < 15, 0, 10 ** (gain / 20))
    return level(np.fft.irfft(np.fft.rfft(sound) * gain, n))


def level(sound: Signal) -> Signal:
    """Scale the sound to a root mean square of 1."""
    return sound / np.sqrt(np.mean(sound**2) + 1e-20)


def low_pass(sound: Signal, hz: float, order: int = 2) -> Signal:
    """Filter out what lies above the frequency by a Butterworth filter."""
    return _butter(sound, hz, "lowpass", order)


def high_pass(sound: Signal, hz: float, order: int = 2) -> Signal:
    """Filter out what lies below the frequency by a Butterworth filter."""
    return _butter(sound, hz, "highpass", order)


def band(sound: Signal, low: float, high: float, order: int = 2) -> Signal:
    """Keep what lies between the two frequencies by a Butterworth filter."""
    return _butter(sound, (low, min(high, 0.49 * SAMPLE_RATE)), "bandpass", order)


def _butter(sound: Signal, hz: ArrayLike, kind: str, order: int) -> Signal:
    sections = signal.butter(order, hz, kind, fs=SAMPLE_RATE, output="sos")
    return np.asarray(signal.sosfilt(sections, sound))


def moving_band(sound: Signal, centre: Signal, octaves: float) -> Signal:
    """Keep a band as wide as `octaves` whose centre follows the curve (as long as the sound)."""
    hz, times, spectrum = signal.stft(sound, SAMPLE_RATE, nperseg=512, noverlap=384)
    now = np.interp(times, np.arange(len(centre)) / SAMPLE_RATE, centre)
    distance = np.log2(np.maximum(hz, 20)[:, None] / now)
    gain = np.exp(-0.5 * (distance / (octaves / 2)) ** 2)
    return _fit(
        signal.istft(spectrum * gain, SAMPLE_RATE, nperseg=512, noverlap=384)[1], len(sound)
    )


def _fit(sound: Signal, length: int) -> Signal:
    return np.pad(sound[:length], (0, max(length - len(sound), 0)))


# Tones and bodies


def tone(pitch: Signal, harmonics: Sequence[float] = (1.0,), phase: float = 0.0) -> Signal:
    """Add up harmonics of these strengths over a curve of pitch; those beyond the band are left
    out.
    """
    turn = np.exp(1j * (phase + 2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE))
    harmonic = np.ones(len(pitch), complex)
    total = np.zeros(len(pitch))
    for number, gain in enumerate(harmonics, 1):
        harmonic *= turn
        if gain:
            total += gain * np.imag(harmonic) * (number * pitch < 0.48 * SAMPLE_RATE)
    return total


def fm(pitch: Signal, ratio: float, index: Signal | float) -> Signal:
    """Make a sine whose phase another one, `ratio` times as high, swings by `index` radians."""
    turn = 2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE
    return np.sin(turn + index * np.sin(ratio * turn))


def modes(seconds: float, hz: ArrayLike, t60: ArrayLike, gain: ArrayLike = 1.0) -> Signal:
    """Strike a body once: sines that die away, one for each frequency, T60 and gain."""
    total, hit = silence(seconds), silence(seconds)
    hit[:1] = 1
    for pitch, fall, strength in np.broadcast(hz, t60, gain):
        if pitch < 0.48 * SAMPLE_RATE:
            turn, shrink = 2 * np.pi * pitch / SAMPLE_RATE, 10 ** (-3 / (fall * SAMPLE_RATE))
            poles = [1, -2 * shrink * np.cos(turn), shrink**2]
            part = slice(samples(1.7 * fall) + 1)  # down to -102 dB
            total[part] += signal.lfilter([0, strength * shrink * np.sin(turn)], poles, hit[part])
    return total


def resonate(sound: Signal, hz: ArrayLike, t60: ArrayLike, gain: ArrayLike = 1.0) -> Signal:
    """Let the sound excite such a body; as long as the sound."""
    ring = modes(min(float(np.max(t60)), len(sound) / SAMPLE_RATE), hz, t60, gain)
    return signal.fftconvolve(sound, ring)[: len(sound)]


def impulses(
    rng: np.random.Generator, seconds: float, rate: float | Signal, spread: float = 1.0
) -> Signal:
    """Draw single samples at random times, `rate` a second, of log-normal strength and either
    sign.
    """
    train = silence(seconds)
    places = np.minimum((at_random(rng, seconds, rate) * SAMPLE_RATE).astype(int), len(train) - 1)
    strength = np.exp(spread * rng.standard_normal(len(places)))
    np.add.at(train, places, strength * rng.choice([-1, 1], len(places)))
    return train


# Finish


def room(rng: np.random.Generator, sound: Signal, t60: float, wet: float = 0.2) -> Signal:
    """Put the sound into a room: early reflections and a dying haze, `wet` of it; t60 longer."""
    seconds = min(t60, 3.0)
    haze = noise(rng, seconds, 0.7) * decay(seconds, t60, attack=0.005)
    reflections = rng.uniform(0.003, min(0.06, seconds), 9)
    for at in reflections:
        haze[samples(at)] += rng.choice([-1, 1]) * 6 * (1 - at / 0.08)
    haze /= np.sqrt(np.sum(haze**2))
    dry = np.pad(sound, (0, len(haze) - 1))
    return (1 - wet) * dry + wet * signal.fftconvolve(sound, haze)


def outdoors(rng: np.random.Generator, sound: Signal, gain: float = 0.01) -> Signal:
    """Add the quiet murmur that every recording has; gain: against the sound's peak."""
    seconds = len(sound) / SAMPLE_RATE
    murmur = noise(rng, seconds, 1.3) * wander(rng, seconds, 1.5, 0.6, 1.2)
    return sound + gain * np.max(np.abs(sound)) * murmur[: len(sound)]


def drive(sound: Signal, amount: float) -> Signal:
    """Clip softly: 1 is a touch of warmth, 10 is torn."""
    return np.tanh(amount * sound / (np.max(np.abs(sound)) + 1e-12))


def normalise(sound: Signal) -> Signal:
    """Remove DC, soften the ends, and set the peak to PEAK dB; spikes far above the loudest moment
    are rounded.
    """
    sound = high_pass(sound - np.mean(sound), 20, order=1)
    moment = np.ones(samples(0.1)) / samples(0.1)
    most = 6 * np.sqrt(np.max(signal.fftconvolve(sound**2, moment, "same")) + 1e-20)
    sound = most * np.tanh(sound / most)
    ends = np.minimum(np.arange(len(sound)), np.arange(len(sound))[::-1])
    sound = sound * np.minimum(ends / samples(EDGE), 1)
    return sound * 10 ** (PEAK / 20) / (np.max(np.abs(sound)) + 1e-12)
