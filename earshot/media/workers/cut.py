"""Recordings that break off, by what they say of their own length, where FFmpeg says nothing."""

import io
from collections.abc import Callable
from typing import BinaryIO, Final

from earshot.media.workers.parts import RIFF

MAX_MISSING: Final = 0.25  # seconds before the declared end, and 1 %, that no one misses
WAV_UNKNOWN: Final = 2**30  # bytes; programs that write into a pipe declare some huge length
W64: Final = b"riff"  # how Sony's WAV with sizes of 64 bits begins
CAF: Final = b"caff"
FLV: Final = b"FLV"
VOC: Final = b"Creative Voice File"
OGG_TAIL: Final = 65_536  # bytes, more than one page
OGG_LAST_PAGE: Final = b"\x04"  # the highest flag of a page
MP3_HEAD: Final = 4096  # bytes in which the table of an MP3 begins


def ends_early(file: BinaryIO) -> bool:
    """Tell whether a recording of a common format is cut off, where FFmpeg does not."""
    file.seek(0)
    head = file.read(MP3_HEAD)
    size = file.seek(0, io.SEEK_END)
    if head[4:8] == b"ftyp":
        return _mp4_is_cut(file)
    if order := RIFF.get(head[:4]):
        declared = int.from_bytes(head[4:8], order) + 8
        rate = int.from_bytes(head[28:32], order) if head[12:16] == b"fmt " else 0  # bytes/s
        return size + MAX_MISSING * rate < declared < WAV_UNKNOWN
    if head[:4] == W64:
        return size < int.from_bytes(head[16:24], "little") < WAV_UNKNOWN
    if head[:4] == b"OggS":
        file.seek(max(0, size - OGG_TAIL))
        tail = file.read()
        page = tail.rfind(b"OggS")
        return tail[page + 5 : page + 6] < OGG_LAST_PAGE
    if head[:3] == FLV:
        return _flv_is_cut(file, size)
    if head[: len(VOC)] == VOC:
        return _ends_within(file, size, int.from_bytes(head[20:22], "little"), 4, _voc_length)
    if head[:4] == CAF:
        return _ends_within(file, size, 8, 12, _caf_length)
    table = max(head.find(b"Xing"), head.find(b"Info"))
    if table > 0 and head[:2] in (b"ID", b"\xff\xfb", b"\xff\xf3", b"\xff\xfa", b"\xff\xf2"):
        flags = int.from_bytes(head[table + 4 : table + 8], "big")
        place = table + 8 + 4 * (flags & 1)
        declared = int.from_bytes(head[place : place + 4], "big") if flags & 2 else 0
        return size < 0.99 * declared
    return False


def _flv_is_cut(file: BinaryIO, size: int) -> bool:
    """Tell whether what lies before the last size of a tag, which ends a file, is no such tag."""
    file.seek(max(0, size - 4))
    length = int.from_bytes(file.read(4), "big")
    file.seek(max(0, size - 4 - length))
    return int.from_bytes(file.read(4)[1:], "big") + 11 != length  # bytes of a tag's head


def _ends_within(
    file: BinaryIO, size: int, end: int, head: int, length: Callable[[bytes], int]
) -> bool:
    """Tell whether a file of blocks, the first of which begins at ``end``, ends within one.

    length: reads the length of a block (bytes) from its head; negative: there is none, or no more.
    """
    while end < size:
        file.seek(end)
        block = length(file.read(head))
        if block < 0:
            return False
        end += head + block
    return end > size


def _caf_length(head: bytes) -> int:
    return int.from_bytes(head[4:], "big", signed=True)


def _voc_length(head: bytes) -> int:
    return int.from_bytes(head[1:], "little") if head[0] else -1


def _mp4_is_cut(file: BinaryIO) -> bool:
    """Tell whether a file of boxes, as MP4 is, ends within one of them."""
    size, end = file.seek(0, io.SEEK_END), 0
    while end + 8 <= size:
        file.seek(end)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:], "big")
        if length < 8:  # to the end, or damaged
            return False
        end += length
    return end > size
