"""Samples out of whatever a browser, phone or recorder writes, by PyAV."""

import io
from pathlib import Path
from typing import BinaryIO, NamedTuple

import av
import numpy as np
import soxr
from av.container import InputContainer
from av.error import FFmpegError

from media.errors import InputError

# A path, the bytes of a file, or (sample_rate, samples): integers or floats, (T,) or (T, channels).
Source = str | Path | bytes | tuple[int, np.ndarray]

# Playlists stay out: they can name other files and addresses.
FORMATS = "aac,aiff,amr,asf,au,avi,caf,flac,matroska,mov,mp3,mpeg,mpegts,ogg,w64,wav"
SAMPLE_RATES = (4_000, 400_000)  # Hz, the lowest and the highest that can be meant
CODEC_PADDING = 0.25  # seconds that codecs may add to the longest recording allowed
WAV_UNKNOWN = 2**30  # bytes; programs that write into a pipe declare some huge length
OGG_TAIL = 65_536  # bytes, more than one page
OGG_LAST_PAGE = b"\x04"  # the highest flag of a page

UNREADABLE = (
    "This file cannot be read as audio: it is damaged, cut off, or not audio at all. "
    "Use WAV, FLAC, MP3, M4A, OGG or WebM."
)


class Decoded(NamedTuple):
    """Blocks are float32 (channels, T), one after the other; damaged: some audio was missing."""

    blocks: list[np.ndarray]
    sample_rate: int
    damaged: bool


def decode(source: Source, max_seconds: float) -> Decoded:
    """Decodes the source, but no more than max_seconds of it: InputError if it is longer.

    InputError too for what is no audio, or has none that can be decoded.
    """
    if isinstance(source, tuple):
        return _decode_samples(*source, max_seconds)
    if isinstance(source, bytes):
        return _decode_file(io.BytesIO(source), max_seconds)
    try:
        # An opened file, so that FFmpeg cannot take the name for an address.
        with open(source, "rb") as file:
            return _decode_file(file, max_seconds)
    except (FileNotFoundError, IsADirectoryError):
        raise InputError("The recording is no longer there. Record or upload it again.") from None


def open_container(file: BinaryIO, formats: str, unreadable: str) -> InputContainer:
    """An opened file as FFmpeg reads it, if it is in one of the formats (comma-separated): else
    InputError(unreadable)."""
    try:
        return av.open(file, "r", options={"format_whitelist": formats}, metadata_errors="replace")
    except FFmpegError:
        raise InputError(unreadable) from None


def _decode_samples(rate: int, samples: np.ndarray, max_seconds: float) -> Decoded:
    if samples.ndim not in (1, 2) or samples.dtype.kind not in "iuf":
        raise InputError("Samples must be integers or floats, of shape (T,) or (T, channels).")
    _check_rate(rate)
    _check_length(len(samples) / rate, max_seconds)
    return Decoded([_to_float(np.atleast_2d(samples.T))], rate, damaged=False)


def _decode_file(file: BinaryIO, max_seconds: float) -> Decoded:
    damaged = _ends_early(file)
    with open_container(file, FORMATS, UNREADABLE) as container:
        if not container.streams.audio:
            raise InputError("This file holds no sound. Use one with an audio track.")
        return _decode_stream(container, max_seconds, damaged)


def _decode_stream(container: InputContainer, max_seconds: float, damaged: bool) -> Decoded:
    blocks: list[np.ndarray] = []
    rate, seconds = 0, 0.0
    stream = container.streams.audio[0]
    packets, decoder = container.demux(stream), _decoder(stream)
    while True:
        try:
            frames = [(frame, _samples(frame)) for frame in decoder.decode(next(packets))]
        except StopIteration:
            break
        except (FFmpegError, IndexError, ValueError):
            # The last two are PyAV's, for streams that appear midway and types that numpy lacks.
            damaged = True
            continue
        for frame, block in frames:
            _check_rate(frame.sample_rate)
            rate = rate or frame.sample_rate
            if frame.sample_rate != rate:
                block = soxr.resample(block.T, frame.sample_rate, rate).T
            blocks.append(block)
            seconds += frame.samples / frame.sample_rate
            _check_length(seconds, max_seconds)
    if not blocks:
        raise InputError(UNREADABLE)
    return Decoded(blocks, rate, damaged or seconds < 0.9 * _declared_seconds(container))


def _decoder(stream: av.AudioStream) -> av.AudioCodecContext:
    """The stream's own, but libopus for Opus: FFmpeg's bursts to thousands of times full scale
    within some files."""
    if stream.codec_context.name != "opus":
        return stream.codec_context
    decoder = av.AudioCodecContext.create("libopus", "r")
    decoder.extradata = stream.codec_context.extradata
    return decoder


def _samples(frame: av.AudioFrame) -> np.ndarray:
    """The frame's samples as float32 (channels, T)."""
    samples = _to_float(frame.to_ndarray())
    return samples if frame.format.is_planar else samples.reshape(-1, frame.layout.nb_channels).T


def _declared_seconds(container: InputContainer) -> float:
    """How long the audio is by the file's own account, 0 where it says nothing reliable."""
    stream = container.streams.audio[0]
    if container.format.name == "aac":  # no header: an estimate only
        return 0.0
    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    # WebM tells the length of the whole file alone; a film may outlast its sound.
    alone = len(container.streams) == 1
    return (container.duration or 0) / av.time_base if alone else 0.0


def _ends_early(file: BinaryIO) -> bool:
    """Whether a WAV or Ogg file is cut off, which FFmpeg does not tell."""
    head = file.read(8)
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - OGG_TAIL))
    tail = file.read()
    file.seek(0)
    if size == 0:
        raise InputError("The recording is empty. Record or upload it again.")
    if head[:4] == b"RIFF":
        declared = int.from_bytes(head[4:], "little") + len(head)
        return size < declared < WAV_UNKNOWN
    page = tail.rfind(b"OggS")
    return head[:4] == b"OggS" and tail[page + 5 : page + 6] < OGG_LAST_PAGE


def _check_rate(rate: int) -> None:
    lowest, highest = SAMPLE_RATES
    if not lowest <= rate <= highest:
        raise InputError(
            f"A sampling rate of {rate} Hz cannot be used. "
            f"Export the recording at {lowest} to {highest} Hz, 16000 for example."
        )


def _check_length(seconds: float, max_seconds: float) -> None:
    if seconds > max_seconds + CODEC_PADDING:
        raise InputError(
            f"The recording is longer than {max_seconds:g} s. Cut it to {max_seconds:g} s or less."
        )


def _to_float(samples: np.ndarray) -> np.ndarray:
    """Samples of any type as float32, integers scaled from their range to [-1, 1)."""
    if samples.dtype.kind == "f":
        return samples.astype(np.float32)
    half = 2.0 ** (8 * samples.dtype.itemsize - 1)
    offset = half if samples.dtype.kind == "u" else 0.0
    return ((samples - offset) / half).astype(np.float32)
