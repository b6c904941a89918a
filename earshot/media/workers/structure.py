"""The structure of a recording by its bytes, where FFmpeg says nothing: whether several were joined
by writing one file behind another, whether one breaks off, and whether it is encrypted.

Of joined files FFmpeg reads the first only (RIFF, MP4), or stops where the second has other
settings (Ogg, whose chains are files in their own right), and of several blocks of samples in one
WAV the last. Each part is a window on the file; what FFmpeg reads on through by itself, such as
WebM, MPEG-TS and MP3, is one part. A WAV behind a tag of MP3, or with chunks of odd length that
lack the byte that makes them even, is one that FFmpeg can read, as is a recording behind zeros, or
behind the space or the mark of UTF-8 that a web server's script sent before it.
"""

import io
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final, Literal, cast

MAX_PARTS: Final = 1000
MAX_CHUNKS: Final = 100_000  # of a WAV: empty ones would keep a worker busy for minutes
MAX_ZEROS: Final = 1 << 20  # bytes before a recording, as a recorder leaves where it meant to write
SENT_BEFORE: Final = b"\xef\xbb\xbf\r\n\t "  # bytes of text before a recording, from a script
MAX_WAV_HEAD: Final = 65_536  # bytes before the samples that each of several blocks gets
ID3_HEAD: Final = 10  # bytes, of which the last four are the length of what follows, 7 bits each
MAX_LENGTHS: Final = 24  # bytes at the beginning in which older formats have their length
OGG_HEAD: Final = 27  # bytes of a page before its table of segments
OGG_FIRST: Final = 2  # flag of the first page of a stream
MAX_OGG_ZEROS: Final = 4096  # bytes, of a page or behind it, among which FFmpeg looks for the next
# How WAV files begin, by which of the bytes of a number comes first.
RIFF: Final[dict[bytes, Literal["little", "big"]]] = {b"RIFF": "little", b"RIFX": "big"}
# Beginnings that FFmpeg does not look for behind other bytes.
BEGINNINGS: Final = (*RIFF, b"OggS", b"fLaC", b"FORM", b"caff", b"\x1aE\xdf\xa3", b"ID3")
WAV_CHUNKS: Final = (
    b"fmt ",
    b"data",
    b"fact",
    b"LIST",
    b"bext",
    b"cue ",
    b"smpl",
    b"iXML",
    b"id3 ",
    b"_PMX",
)
BOXES: Final = (b"moov", b"moof", b"mdat")  # of MP4: what a file has after its `ftyp`
MAX_MISSING: Final = 0.25  # seconds before the declared end, and 1 %, that no one misses
MAX_WAV_BYTES: Final = 2**30  # bytes; programs that write into a pipe declare some huge length
W64: Final = b"riff"  # how Sony's WAV with sizes of 64 bits begins
CAF: Final = b"caff"
CAF_CHUNKS: Final = (
    *(b"desc", b"data", b"pakt", b"kuki", b"chan", b"info", b"free", b"strg", b"mark", b"regn"),
    *(b"inst", b"midi", b"ovvw", b"peak", b"umid", b"uuid", b"edct"),
)
AU: Final = b".snd"
TAGS_BEHIND: Final = (b"TAG", b"APE", b"ID3")  # how those of MP3 begin
ASF_PROPERTIES: Final = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
ASF_DURATION: Final = 64  # bytes after their beginning
FLV: Final = b"FLV"
VOC: Final = b"Creative Voice File"
OGG_TAIL: Final = 65_536  # bytes, more than one page
OGG_LAST_PAGE: Final = b"\x04"  # the highest flag of a page
MP3_HEAD: Final = 4096  # bytes in which the table of an MP3 begins
MAX_TABLE: Final = 2**22  # bytes of a table of MP4 in which an encryption is looked for
AUDIBLE: Final = (b"aax ", b"aaxc")
# A box that says how the sound is protected begins with its own format; a title may be a Sinfonia.
PROTECTED: Final = re.compile(rb"sinf.{4}frma", re.DOTALL)
# Objects of ASF that say how it is encrypted, in two versions.
ASF_ENCRYPTIONS: Final = (
    bytes.fromhex("fbb3112223bdd211b4b700a0c955fc6e"),
    bytes.fromhex("14e68a292226174cb935dae07ee9289c"),
)


def parts(file: BinaryIO) -> list[BinaryIO]:
    """List the recordings in a file, in order; most have one, which is the file."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    head = file.read(MAX_LENGTHS)
    if head[:3] == b"ID3":
        length = reversed(head[6:ID3_HEAD])
        tag = ID3_HEAD + sum(byte << 7 * place for place, byte in enumerate(length))
        file.seek(tag)
        if file.read(4) in RIFF:
            return parts(cast(BinaryIO, _Part(file, tag, size)))
    if head and head[0] in b"\0" + SENT_BEFORE:
        file.seek(0)
        beginning = file.read(MAX_ZEROS)
        start = len(beginning) - len(beginning.lstrip(SENT_BEFORE if head[0] else b"\0"))
        if (box := beginning.find(b"ftyp", start, start + 8) - 4) > 0:  # its length has zeros too
            return parts(cast(BinaryIO, _Part(file, box, size)))
        if beginning.startswith(BEGINNINGS, start):
            return parts(cast(BinaryIO, _Part(file, start, size)))
    if head[:4] == b"OggS":
        end = _without_zeros(file, size) + MAX_OGG_ZEROS
        if end < size:
            return parts(cast(BinaryIO, _Part(file, 0, end)))
        starts = list(_ogg(file, size))
    elif head[:4] in RIFF:
        starts = list(_riff(file, size))
        blocks = _sample_blocks(file, size, RIFF[head[:4]]) if len(starts) < 2 else []
        if blocks:
            return [cast(BinaryIO, block) for block in blocks]
    elif head[4:8] == b"ftyp":
        starts = list(_mp4(file, size))
    else:
        end = _end(file, size, _declared_end(file, size, head))
        if end < size:
            return [cast(BinaryIO, _Part(file, 0, end))]
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


def _sample_blocks(file: BinaryIO, size: int, order: Literal["little", "big"]) -> list["_Part"]:
    """List the blocks of samples of a WAV, each behind what the file says before the first; none
    where FFmpeg reads the file as it is."""
    file.seek(0)
    blocks, head, is_padded = [], file.read(12), True
    for position, name, length in _chunks(file, size, order):
        if name == b"data" and length and len(blocks) < MAX_PARTS:
            is_padded &= bool(blocks) or position == len(head)
            declared = min(len(head) + length, 2**32 - 1).to_bytes(4, order)
            beginning = head[:4] + declared + head[8:]
            blocks.append(_Part(file, position, min(size, position + 8 + length), beginning))
        elif not blocks:
            if position + length > MAX_WAV_HEAD:
                return []
            file.seek(position)
            head += file.read(8 + length) + bytes(length % 2)
    return blocks if len(blocks) > 1 or not is_padded else []


def _chunks(
    file: BinaryIO, size: int, order: Literal["little", "big"]
) -> Iterator[tuple[int, bytes, int]]:
    """Yield the place, name and length of each chunk of a WAV.

    One of odd length is followed by a byte more; where a known chunk begins without, there is none.
    """
    position = 12
    for _ in range(MAX_CHUNKS):
        if position + 8 > size:
            return
        file.seek(position)
        head = file.read(8)
        length = int.from_bytes(head[4:], order)
        yield position, head[:4], length
        position += 8 + length
        if length % 2:
            file.seek(position)
            position += file.read(4) not in WAV_CHUNKS


def _end(file: BinaryIO, size: int, declared: int) -> int:
    """Return where a file ends whose samples should: behind these there may be more, if its
    recorder was ended, or zeros, or tags."""
    if declared >= size:
        return size
    file.seek(declared)
    has_tags = file.read(3) in TAGS_BEHIND
    return declared if has_tags else max(declared, _without_zeros(file, size))


def _declared_end(file: BinaryIO, size: int, head: bytes) -> int:
    """Return where a file of an older format should end, by its head and its blocks; its size where
    it is of none."""
    if head[:4] == AU:
        return int.from_bytes(head[4:8], "big") + int.from_bytes(head[8:12], "big")
    if head[:4] == W64:
        return int.from_bytes(head[16:24], "little")
    if head[:4] == CAF:
        return _end_of_blocks(file, size, 8, 12, _caf_length)
    if head[: len(VOC)] == VOC:
        return _end_of_blocks(file, size, int.from_bytes(head[20:22], "little"), 4, _voc_length)
    return size


def _mp4(file: BinaryIO, size: int) -> Iterator[int]:
    filled = True
    for position, _, kind in _boxes(file, size):
        if kind == b"ftyp" and filled:
            yield position
            filled = False
        filled |= kind in BOXES


def _boxes(file: BinaryIO, size: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield the place, length and kind of each box of an MP4 file. One of less than 8 bytes is the
    last: it goes to the end, or is damaged."""
    position, length = 0, 8
    while length >= 8 and position + 8 <= size:
        file.seek(position)
        head = file.read(16)
        length, kind = int.from_bytes(head[:4], "big"), head[4:8]
        if length == 1:
            length = int.from_bytes(head[8:], "big")
        yield position, length, kind
        position += length


class _Part(io.RawIOBase):
    """The bytes of a file from start to end, as a file, behind some others (head)."""

    def __init__(self, file: BinaryIO, start: int, end: int, head: bytes = b"") -> None:
        self._file, self._start, self._head = file, start - len(head), head
        self._size = end - self._start
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
        data = self._head[self._position : self._position + count]
        self._file.seek(self._start + self._position + len(data))
        data += self._file.read(count - len(data))
        self._position += len(data)
        return data


def is_encrypted(file: BinaryIO) -> bool:
    """Whether a recording can be decoded with somebody's key only (FairPlay, common encryption of
    MP4, Audible, Windows Media): FFmpeg gives noise for its sound, or none."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    head = file.read(MP3_HEAD)
    if head[4:8] != b"ftyp":
        return any(encryption in head for encryption in ASF_ENCRYPTIONS)
    if head[8:12] in AUDIBLE:
        return True
    for place, length, kind in _boxes(file, size):
        if kind == b"moov":
            file.seek(place)
            table = file.read(min(length, MAX_TABLE))
            return bool(PROTECTED.search(table))
    return False


def has_no_length(file: BinaryIO) -> bool:
    """Whether a file of ASF was written into a pipe: FFmpeg guesses its length by its size."""
    file.seek(0)
    head = file.read(MP3_HEAD)
    place = head.find(ASF_PROPERTIES) + ASF_DURATION
    duration, lead = (int.from_bytes(head[at : at + 8], "little") for at in (place, place + 16))
    return ASF_PROPERTIES in head and duration <= 10_000 * lead  # units of 100 ns, and of 1 ms


def ends_early(file: BinaryIO) -> bool:
    """Whether a recording of a common format is cut off, where FFmpeg does not."""
    file.seek(0)
    head = file.read(MP3_HEAD)
    size = file.seek(0, io.SEEK_END)
    if head[4:8] == b"ftyp":
        boxes = _boxes(file, size)
        # Programs write tags and places behind an MP4: only its own parts can be cut off.
        return any(
            kind in BOXES and length >= 8 and place + length > size for place, length, kind in boxes
        )
    if order := RIFF.get(head[:4]):
        declared = int.from_bytes(head[4:8], order) + 8
        rate = int.from_bytes(head[28:32], order) if head[12:16] == b"fmt " else 0  # bytes/s
        if size + MAX_MISSING * rate < declared < MAX_WAV_BYTES:
            return True
        return _untold(file, size, order) > MAX_MISSING * max(rate, 1)
    if head[:4] in (W64, CAF) or head[: len(VOC)] == VOC:
        return size < _declared_end(file, size, head) < MAX_WAV_BYTES
    if head[:4] == b"OggS":
        file.seek(max(0, size - OGG_TAIL))
        tail = file.read()
        page = tail.rfind(b"OggS")
        return tail[page + 5 : page + 6] < OGG_LAST_PAGE
    if head[:3] == FLV:
        return _flv_is_cut(file, size)
    table = max(head.find(b"Xing"), head.find(b"Info"))
    if table > 0 and head[:2] in (b"ID", b"\xff\xfb", b"\xff\xf3", b"\xff\xfa", b"\xff\xf2"):
        flags = int.from_bytes(head[table + 4 : table + 8], "big")
        place = table + 8 + 4 * (flags & 1)
        declared = int.from_bytes(head[place : place + 4], "big") if flags & 2 else 0
        return size < 0.99 * declared
    return False


def _untold(file: BinaryIO, size: int, order: Literal["little", "big"]) -> int:
    """Count the bytes behind the samples of a WAV that are no further chunk: a recorder writes the
    length now and then, and ended before the last time."""
    has_sound = False
    for position, name, length in _chunks(file, size, order):
        alphanumeric = name.isascii() and name[:3].decode("latin-1").isalnum()
        if has_sound and not (alphanumeric or name in WAV_CHUNKS):
            return max(0, _without_zeros(file, size) - position)
        if name == b"data":
            if length == 0:  # never finished, and read to the end
                return 0
            has_sound = True
    return 0


def _without_zeros(file: BinaryIO, size: int) -> int:
    """Return where a file ends without the zeros that some disks and recorders leave there."""
    start = max(0, size - MAX_ZEROS)
    file.seek(start)
    return start + len(file.read(size - start).rstrip(b"\0"))


def _flv_is_cut(file: BinaryIO, size: int) -> bool:
    """Whether what lies before the last size of a tag, which ends a file, is no such tag."""
    file.seek(max(0, size - 4))
    length = int.from_bytes(file.read(4), "big")
    file.seek(max(0, size - 4 - length))
    return int.from_bytes(file.read(4)[1:], "big") + 11 != length  # bytes of a tag's head


def _end_of_blocks(
    file: BinaryIO, size: int, end: int, head: int, length: Callable[[bytes], int]
) -> int:
    """Return where the last block of a file ends, the first of which begins at ``end``.

    length: reads the length of a block (bytes) from its head; negative: there is none, or no more.
    """
    while end < size:
        file.seek(end)
        block = length(file.read(head))
        if block < 0:
            return end
        end += head + block
    return end


def _caf_length(head: bytes) -> int:
    return int.from_bytes(head[4:], "big", signed=True) if head[:4] in CAF_CHUNKS else -1


def _voc_length(head: bytes) -> int:
    return int.from_bytes(head[1:], "little") if head[0] else -1
