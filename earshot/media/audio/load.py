"""Recordings of visitors, ready for use: an array, or a file, which a worker process decodes; mono,
resampled, checked; and loudness as in ITU-R BS.1770.
"""

import io
import math
import struct
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import soxr

from earshot.core.errors import InputError
from earshot.media.samples import (
    SILENT_PEAK,
    Clipping,
    Mix,
    check_length,
    check_rate,
    check_values,
    to_float,
)
from earshot.media.workers import stream

# A path, the bytes of a file, or samples and their rate in Hz in either order: integers or floats,
# in an array, a list or a tensor, of shape (T,), (T, channels) or (channels, T).
Source = str | Path | bytes | tuple[Any, Any] | list[Any]
Audio = Source | None  # None is what Gradio gives where nothing was recorded

ORDER: Final = (
    "Give a path, the bytes of a file, or (sample_rate, samples): samples of shape (T,), "
    "(T, channels) or (channels, T), integers or floats."
)
EQUAL_LUFS: Final = -23.0  # of sounds that are compared
MAX_CHANNELS: Final = 64  # of an array; a side that is longer is time
CANCELLED: Final = (
    "The channels of the recording cancel each other, for one is inverted: the louder one was used."
)
MAX_CLIPPED_SHARE: Final = 1e-3  # of the samples; fewer are inaudible
SPEECH_RATE: Final = 16_000  # Hz, which holds all of speech
QUIET_PEAK: Final = 0.03  # -30 dBFS
LOUDNESS_BLOCK: Final = 0.4  # seconds, from BS.1770
FRONT_AND_SURROUND: Final = (0, 1, 2, 4, 5)  # channels of 5.1 that BS.1770 weighs: all but the LFE
QUIET_LUFS: Final = -50.0


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
        clipping, mix = Clipping(), Mix()
        clipping.add(samples, lossless=True)
        waveform = mix(samples)[0]
        if mix.louder is None:
            return Mono(waveform * np.float32(mix.gain), rate, clipping.share, ())
        return Mono(samples[mix.louder], rate, clipping.share, (CANCELLED,))
    messages = _messages(source, max_seconds, mono=True)
    last = messages[-1][0]
    notices = []
    if last["louder"] is not None:
        notices.append(CANCELLED)
        messages = _messages(source, max_seconds, mono=True, channel=int(last["louder"]))
    waveform = np.concatenate([block[0] for _, block in messages]) * np.float32(last["gain"])
    rate = last["sample_rate"]
    if last["damaged"]:
        notices.append(
            f"The file is damaged or ends early: {len(waveform) / rate:.1f} s of it could be used."
        )
    elif last["gaps"]:
        notices.append(f"The recording has gaps, {last['gaps']:.1f} s in all: they are silent.")
    if last["tracks"] > 1:
        notices.append(f"Of {last['tracks']} audio tracks, number {last['track']} was used.")
    return Mono(waveform, rate, last["clipped"], tuple(notices))


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


@dataclass(frozen=True, eq=False)
class Recording:
    """Mono audio: waveform float32 (T,) in [-1, 1], sample_rate in Hz.

    notices are sentences for the visitor about what could be used but is not as it should be.
    """

    waveform: np.ndarray
    sample_rate: int
    notices: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        return len(self.waveform) / self.sample_rate


def load(
    audio: Audio,
    sample_rate: int = 16_000,
    max_seconds: float = 60.0,
    min_seconds: float = 0.1,
) -> Recording:
    """Decode audio, mix it to mono, remove its DC offset and resample it.

    Raises InputError for what cannot be used: nothing, not audio, empty, shorter than min_seconds
    or longer than max_seconds (found without decoding the rest), NaN or infinite values. Silence
    is no error: it comes back with a notice.
    """
    if audio is None:
        raise InputError("There is no recording yet.", "Record or upload one first.")
    waveform, rate, clipped_share, notices = decode_mono(audio, max_seconds)
    seconds = len(waveform) / rate
    if seconds == 0:
        raise InputError("The recording is empty.", "Record or upload it again.")
    if seconds < min_seconds:
        raise InputError(
            f"The recording is too short ({seconds:.2f} s). It must last {min_seconds:g} s or more."
        )
    if not np.isfinite(waveform).all():
        raise InputError(
            "The recording holds values that are not numbers (NaN or infinity). "
            "Export it again, as 16-bit WAV for example."
        )
    waveform = waveform - np.float32(waveform.mean(dtype=np.float64))
    waveform = soxr.resample(waveform.astype(np.float32), rate, sample_rate)
    waveform = waveform[: round(max_seconds * sample_rate)]
    peak = float(np.abs(waveform).max())
    notices = list(notices)
    if rate < min(sample_rate, SPEECH_RATE):
        notices.append(
            f"The recording holds nothing above {rate / 2000:g} kHz, as on the telephone: "
            "sounds such as s and f may be mistaken."
        )
    if peak < SILENT_PEAK:
        notices.append("The recording is silent from beginning to end.")
    elif peak < QUIET_PEAK:
        notices.append("The recording is very quiet: noise may cover what is in it.")
    if clipped_share > MAX_CLIPPED_SHARE:
        notices.append(
            "The recording is clipped: louder than its file can hold. It may sound distorted."
        )
    return Recording(waveform / max(peak, 1.0), sample_rate, tuple(notices))


def to_int16(waveform: np.ndarray) -> np.ndarray:
    """Convert samples in [-1, 1] to int16 of the same shape; what is outside is clipped."""
    return np.round(np.clip(waveform, -1, 1) * 32767).astype(np.int16)


def wav_bytes(waveform: np.ndarray, sample_rate: int, comment: str = "") -> bytes:
    """Make a mono 16-bit WAV file of the waveform (T,), with a comment in ASCII."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(to_int16(waveform).astype("<i2").tobytes())
    if comment:
        _append_info(buffer, comment)
    return buffer.getvalue()


def _append_info(file: io.BytesIO, comment: str) -> None:
    """Append a LIST chunk of type INFO with a comment to a RIFF file, which ends the file."""
    text = comment.encode("ascii") + b"\0"
    text += b"\0" * (len(text) % 2)
    info = b"INFO" + b"ICMT" + struct.pack("<I", len(text)) + text
    file.seek(0, io.SEEK_END)
    file.write(b"LIST" + struct.pack("<I", len(info)) + info)
    size = file.tell()
    file.seek(4)
    file.write(struct.pack("<I", size - 8))


def loudness(waveform: np.ndarray, sample_rate: int) -> float:
    """Measure the integrated loudness of the waveform in LUFS (ITU-R BS.1770-4); -inf for silence.

    waveform: (T,) or (T, channels) in the order of WAV files; of more than five channels the fourth
    (low-frequency effects) and those after the sixth are left out. What is quieter than QUIET_LUFS
    is measured as if it were louder: the standard's absolute gate, of -70 LUFS, would leave parts
    of it out.
    """
    peak = float(np.abs(waveform).max(initial=0))
    if not peak:
        return -math.inf
    if waveform.ndim == 2 and waveform.shape[1] > len(FRONT_AND_SURROUND):
        waveform = waveform[:, FRONT_AND_SURROUND]
    import pyloudnorm  # late, for it loads scipy.signal, half a second of work

    # What is shorter than the measuring block is repeated, which keeps its power.
    length = max(len(waveform), math.ceil(LOUDNESS_BLOCK * sample_rate))
    repeated = np.resize(waveform, (length, *waveform.shape[1:])).astype(np.float64)
    meter = pyloudnorm.Meter(sample_rate, block_size=LOUDNESS_BLOCK)
    level = float(meter.integrated_loudness(repeated))
    if level >= QUIET_LUFS:
        return level
    return float(meter.integrated_loudness(repeated / peak)) + 20 * math.log10(peak)


def match_loudness(
    waveform: np.ndarray, sample_rate: int, lufs: float, peak: float = -1.0
) -> np.ndarray:
    """Bring the waveform (T,) to lufs (LUFS), or as near below as its peak (dBFS) allows.

    Silence, and a target of -inf, give silence.
    """
    level = loudness(waveform, sample_rate)
    if math.isinf(level):
        return np.zeros_like(waveform)
    gain = min(10 ** ((lufs - level) / 20), 10 ** (peak / 20) / float(np.abs(waveform).max()))
    return (waveform * gain).astype(waveform.dtype)


def equally_loud(sounds: Sequence[tuple[np.ndarray, int]]) -> list[np.ndarray]:
    """Bring sounds, waveforms (T,) with their rates in Hz, to one loudness: EQUAL_LUFS, or as near
    below as a peak of -1 dBFS in each of them allows. Silence stays silent.
    """
    matched = [match_loudness(waveform, rate, EQUAL_LUFS) for waveform, rate in sounds]
    levels = [loudness(w, rate) for w, (_, rate) in zip(matched, sounds, strict=True)]
    least = min((level for level in levels if not math.isinf(level)), default=EQUAL_LUFS)
    return [match_loudness(w, rate, least, 0) for w, (_, rate) in zip(matched, sounds, strict=True)]
