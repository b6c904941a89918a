"""Recordings that were joined by writing one file behind another.

FFmpeg reads the first of them only (RIFF, MP4), or stops where the second has other settings (Ogg,
whose chains are files in their own right). Each part is a window on the file; what FFmpeg reads on
through by itself, such as WebM, MPEG-TS and MP3, is one part.
"""

import io
from collections.abc import Iterator
from typing import BinaryIO, Final, Literal, cast

MAX_PARTS: Final = 1000
OGG_HEAD: Final = 27  # bytes of a page before its table of segments
OGG_FIRST: Final = 2  # flag of the first page of a stream
# How WAV files begin, by which of the bytes of a number comes first.
RIFF: Final[dict[bytes, Literal["little", "big"]]] = {b"RIFF": "little", b"RIFX": "big"}
BOXES: Final = (b"moov", b"moof", b"mdat")  # of MP4: what a file has after its `ftyp`


def parts(file: BinaryIO) -> list[BinaryIO]:
    """List the recordings in a file, in order; most have one, which is the file."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    head = file.read(8)
    file.seek(0)
    if head[:4] == b"OggS":
        starts = list(_ogg(file, size))
    elif head[:4] in RIFF:
        starts = list(_riff(file, size))
    elif head[4:] == b"ftyp":
        starts = list(_boxes(file, size))
    else:
        starts = [0]
    if len(starts) < 2:
        file.seek(0)
        return [file]
    ends = [*starts[1:], size]
    windows = [_Part(file, start, end) for start, end in zip(starts, ends, strict=True)]
    return [cast(BinaryIO, window) for window in windows[:MAX_PARTS]]


def _ogg(file: BinaryIO, size: int) -> Iterator[int]:
    """Find where first pages follow others; streams that play together have theirs in a row."""
    position, heads = 0, False
    while position + OGG_HEAD < size:
        file.seek(position)
        head = file.read(OGG_HEAD)
        if head[:4] != b"OggS":  # damaged: FFmpeg looks for the next page
            return
        first = bool(head[5] & OGG_FIRST)
        if first and not heads:
            yield position
        heads = first
        position += OGG_HEAD + head[26] + sum(file.read(head[26]))


def _riff(file: BinaryIO, size: int) -> Iterator[int]:
    position = 0
    while position + 12 < size:
        file.seek(position)
        head = file.read(8)
        if head[:4] not in RIFF:
            return
        yield position
        length = int.from_bytes(head[4:], RIFF[head[:4]])
        position += 8 + length + length % 2


def _boxes(file: BinaryIO, size: int) -> Iterator[int]:
    position, filled = 0, True
    while position + 8 <= size:
        file.seek(position)
        head = file.read(16)
        length, kind = int.from_bytes(head[:4], "big"), head[4:8]
        if length == 1:
            length = int.from_bytes(head[8:], "big")
        if kind == b"ftyp" and filled:
            yield position
            filled = False
        filled |= kind in BOXES
        if length < 8:  # to the end, or damaged
            return
        position += length


class _Part(io.RawIOBase):
    """The bytes of a file from start to end, as a file."""

    def __init__(self, file: BinaryIO, start: int, end: int) -> None:
        self._file, self._start, self._size = file, start, end - start
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = (0, self._position, self._size)[whence]
        self._position = max(0, base + offset)
        return self._position

    def tell(self) -> int:
        return self._position

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, self._size - self._position)
        count = left if size is None or size < 0 else min(size, left)
        self._file.seek(self._start + self._position)
        data = self._file.read(count)
        self._position += len(data)
        return data
