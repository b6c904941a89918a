"""Samples out of whatever a browser, phone or recorder writes, by PyAV. Runs in a worker."""

import io
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import av
import numpy as np
import soxr
from av.container import InputContainer
from av.error import FFmpegError

from earshot.core.errors import InputError
from earshot.media.audio.samples import (
    check_length,
    check_rate,
    check_values,
    clipped_count,
    to_float,
)
from earshot.media.workers.container import Budget, open_container

# Playlists stay out: they can name other files and addresses.
FORMATS: Final = "aac,aiff,amr,asf,au,avi,caf,flac,matroska,mov,mp3,mpeg,mpegts,ogg,w64,wav"
WAV_UNKNOWN: Final = 2**30  # bytes; programs that write into a pipe declare some huge length
OGG_TAIL: Final = 65_536  # bytes, more than one page
OGG_LAST_PAGE: Final = b"\x04"  # the highest flag of a page
MESSAGE_VALUES: Final = 2**18  # samples that go into one message, about
MAX_PLANES: Final = (
    8  # PyAV counts the planes of a frame by a null that 8 of them leave no room for
)

UNREADABLE: Final = (
    "This file cannot be read as audio: it is damaged, cut off, or not audio at all. "
    "Use WAV, FLAC, MP3, M4A, OGG or WebM."
)
Message = tuple[dict[str, Any], np.ndarray]


def decode_audio(file: BinaryIO, max_seconds: float, mono: bool) -> Iterator[Message]:
    """The samples of a file in blocks, float32 (channels, T), mixed to one channel if mono.

    Each header tells the sample_rate (Hz), how many of the file's samples the block is made of
    (values) and how many of them are clipped; the last, with an empty block, whether the file is
    damaged. Raises InputError for what is no audio, has none that can be decoded, or is longer than
    max_seconds or too large (found without decoding the rest).
    """
    damaged = _ends_early(file)
    with open_container(file, FORMATS, UNREADABLE) as container:
        if not container.streams.audio:
            raise InputError("This file holds no sound. Use one with an audio track.")
        rate, seconds, kept = 0, 0.0, 0
        pending = _Pending()
        decoded = _Frames(container)
        for frame_rate, block in decoded:
            check_rate(frame_rate)
            rate = rate or frame_rate
            seconds += block.shape[1] / frame_rate
            check_length(seconds, max_seconds)
            if frame_rate != rate:
                block = soxr.resample(block.T, frame_rate, rate).T
            pending.add(block, mono)
            kept += block.shape[1] if mono else block.size
            check_values(kept, mono)
            if pending.size >= MESSAGE_VALUES:
                yield pending.message(rate)
        if not rate:
            raise InputError(UNREADABLE)
        if pending.size:
            yield pending.message(rate)
        damaged |= decoded.damaged or seconds < 0.9 * _declared_seconds(container)
    yield {"sample_rate": rate, "damaged": damaged}, np.zeros((1, 0), np.float32)


class _Pending:
    """Blocks that wait for a message of a good size: AAC gives 1,024 samples at a time."""

    def __init__(self) -> None:
        self._blocks: list[np.ndarray] = []
        self.size, self._values, self._clipped = 0, 0, 0

    def add(self, block: np.ndarray, mono: bool) -> None:
        self._values += block.size
        self._clipped += clipped_count(block)
        self._blocks.append(block.mean(axis=0, keepdims=True) if mono else block)
        self.size += self._blocks[-1].size

    def message(self, rate: int) -> Message:
        header = {"sample_rate": rate, "values": self._values, "clipped": self._clipped}
        blocks = np.concatenate(self._blocks, axis=1)
        self.__init__()
        return header, blocks


class _Frames:
    """Decoded frames as (sample rate in Hz, float32 (channels, T)); damaged tells, at the end,
    whether some could not be decoded."""

    def __init__(self, container: InputContainer) -> None:
        self.damaged = False
        self._container = container
        self._stream = container.streams.audio[0]
        if self._stream.codec_context is None:  # a codec that FFmpeg does not know
            raise InputError(UNREADABLE)
        self._channels = self._stream.codec_context.layout.nb_channels
        self._packer = av.AudioResampler(format="flt")

    def __iter__(self) -> Iterator[tuple[int, np.ndarray]]:
        packets, decoder = self._container.demux(self._stream), self._decoder()
        budget = Budget()
        while True:
            budget.check()
            try:
                frames = decoder.decode(next(packets))
                # As a list: what one of them raises belongs to this packet.
                blocks = [(f.sample_rate, block) for f in frames for block in self._samples(f)]
            except StopIteration:
                return
            except MemoryError:
                raise
            except (FFmpegError, IndexError, ValueError, EOFError, OSError):
                # Index and value errors are PyAV's, for streams that appear midway and types that
                # numpy lacks.
                self.damaged = True
                continue
            yield from blocks

    def _decoder(self) -> av.AudioCodecContext:
        """The stream's own, but libopus for Opus: FFmpeg's bursts to thousands of times full scale
        within some files."""
        if self._stream.codec_context.name != "opus":
            return self._stream.codec_context
        decoder = av.AudioCodecContext.create("libopus", "r")
        decoder.extradata = self._stream.codec_context.extradata
        return decoder

    def _samples(self, frame: av.AudioFrame) -> Iterator[np.ndarray]:
        """The frame's samples, (channels, T); none of a frame whose channels are not the stream's:
        damaged AAC says so of planes that do not exist, and reading them ends the process."""
        channels = frame.layout.nb_channels
        self._channels = self._channels or channels
        planar = frame.format.is_planar
        if channels != self._channels or (planar and channels > MAX_PLANES):
            self.damaged = True
            return
        packed = [frame]
        if planar and channels == MAX_PLANES:
            packed = self._packer.resample(frame)
        for part in packed:
            samples = to_float(part.to_ndarray())
            yield samples if part.format.is_planar else samples.reshape(-1, channels).T


def _declared_seconds(container: InputContainer) -> float:
    """How long the audio is by the file's own account, 0 where it says nothing reliable."""
    stream = container.streams.audio[0]
    if container.format.name == "aac":  # no header: an estimate only
        return 0.0
    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    # WebM tells the length of the whole file alone; a video may outlast its sound.
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
