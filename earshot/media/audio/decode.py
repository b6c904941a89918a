"""Samples of a visitor's audio: an array, or a file, which a worker process decodes."""

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from earshot.core.errors import InputError
from earshot.media.samples import (
    Mix,
    check_length,
    check_rate,
    check_values,
    clipped_count,
    to_float,
)
from earshot.media.workers import stream

# A path, the bytes of a file, or samples and their rate in Hz in either order: integers or floats,
# in an array, a list or a tensor, of shape (T,), (T, channels) or (channels, T).
Source = str | Path | bytes | tuple[Any, Any] | list[Any]

ORDER: Final = (
    "Give a path, the bytes of a file, or (sample_rate, samples): samples of shape (T,), "
    "(T, channels) or (channels, T), integers or floats."
)
MAX_CHANNELS: Final = 64  # of an array; a side that is longer is time
CANCELLED: Final = (
    "The channels of the recording cancel each other, for one is inverted: the louder one was used."
)


class Decoded(NamedTuple):
    """A decoded recording. Blocks are float32 (channels, T), one after the other; damaged: some
    audio was missing; lossless: what is over 1 was recorded or made so, and not by the codec.
    """

    blocks: list[np.ndarray]
    sample_rate: int
    damaged: bool
    lossless: bool


class Mono(NamedTuple):
    """A recording mixed to mono. waveform: float32 (T,), the mean of all channels, or the loudest
    where they cancel; clipped_share: of the samples of all channels; notices: sentences about what
    was decoded.
    """

    waveform: np.ndarray
    sample_rate: int
    clipped_share: float
    notices: tuple[str, ...]


def decode(source: Source, max_seconds: float) -> Decoded:
    """Decode every channel of the source, but no more than max_seconds of it.

    Raises InputError if it is longer or holds too many samples, for what is no audio, and for what
    has none that can be decoded.
    """
    if not isinstance(source, str | Path | bytes):
        rate, samples = _checked(source, max_seconds)
        check_values(samples.size, mono=False)
        return Decoded([samples], rate, damaged=False, lossless=True)
    messages = _messages(source, max_seconds, mono=False)
    header = messages[-1][0]
    blocks = [block for _, block in messages if block.size]
    return Decoded(
        blocks or [np.zeros((1, 0), np.float32)],
        header["sample_rate"],
        header["damaged"],
        header["lossless"],
    )


def decode_mono(source: Source, max_seconds: float) -> Mono:
    """Decode a source and mix it to mono block by block: many channels take no more memory."""
    if not isinstance(source, str | Path | bytes):
        rate, samples = _checked(source, max_seconds)
        share = clipped_count(samples, lossless=True) / max(samples.size, 1)
        mix = Mix()
        waveform = mix(samples)[0]
        if mix.louder is None:
            return Mono(waveform, rate, share, ())
        return Mono(samples[mix.louder], rate, share, (CANCELLED,))
    messages = _messages(source, max_seconds, mono=True)
    last = messages[-1][0]
    notices = []
    if last["louder"] is not None:
        notices.append(CANCELLED)
        messages = _messages(source, max_seconds, mono=True, channel=int(last["louder"]))
    values = sum(header["values"] for header, _ in messages)
    clipped = sum(header["clipped"] for header, _ in messages)
    waveform = np.concatenate([block[0] for _, block in messages])
    rate = last["sample_rate"]
    if last["damaged"]:
        notices.append(
            f"The file is damaged or ends early: {len(waveform) / rate:.1f} s of it could be used."
        )
    elif last["gaps"]:
        notices.append(f"The recording has gaps, {last['gaps']:.1f} s in all: they are silent.")
    if last["tracks"] > 1:
        notices.append(f"Of {last['tracks']} audio tracks, number {last['track']} was used.")
    return Mono(waveform, rate, clipped / max(values, 1), tuple(notices))


def _messages(
    source: str | Path | bytes, max_seconds: float, mono: bool, channel: int | None = None
) -> list[tuple[dict, np.ndarray]]:
    """Collect the worker's messages, and count their samples: the file may have taken it over."""
    messages, count = [], 0
    options = {"max_seconds": max_seconds, "mono": mono, "channel": channel}
    for header, block in stream("audio", source, **options):
        assert block is not None
        count += block.size
        check_values(count, mono)
        messages.append((header, block))
    return messages


def _checked(source: Any, max_seconds: float) -> tuple[int, np.ndarray]:
    """Check samples and their rate: the rate in Hz, and float32 (channels, T)."""
    if not isinstance(source, tuple | list) or len(source) != 2:
        raise InputError(ORDER)
    (first, rates), (second, others) = ((_array(each), np.ndim(each) == 0) for each in source)
    if rates == others:
        raise InputError(ORDER)
    rate, samples = (first, second) if rates else (second, first)
    if rate.dtype.kind not in "iuf" or rate != np.round(rate):
        raise InputError(ORDER)
    if samples.ndim not in (1, 2) or samples.dtype.kind not in "iuf":
        raise InputError(f"Samples cannot be {samples.dtype} of shape {samples.shape}. {ORDER}")
    check_rate(int(rate))
    if samples.ndim == 1:
        samples = samples[None]
    elif not (samples.shape[0] < samples.shape[1] and samples.shape[0] <= MAX_CHANNELS):
        samples = samples.T
    check_length(samples.shape[1] / int(rate), max_seconds)
    return int(rate), to_float(_pcm(samples))


def _array(values: Any) -> np.ndarray:
    """Make an array of a list, or of a tensor, wherever it is and whether or not it is trained."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        if str(values.dtype) == "torch.bfloat16":  # which numpy lacks
            values = values.float()
    try:
        return np.asarray(values)
    except ValueError:  # lists of unequal lengths
        raise InputError(ORDER) from None


def _pcm(samples: np.ndarray) -> np.ndarray:
    """Take integers of 32 and 64 bits for those that they hold: none are recorded with 64, and a
    list of 16-bit values becomes an array of these."""
    if samples.dtype.kind not in "iu" or samples.dtype.itemsize < 4:
        return samples
    peak = max(int(samples.max(initial=0)), -int(samples.min(initial=0)))
    if peak <= 2**15:
        return np.clip(samples.astype(np.int64), -(2**15), 2**15 - 1).astype(np.int16)
    return samples.astype(np.int32) if peak < 2**31 else samples
