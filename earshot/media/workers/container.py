"""The common parts of decoding sound and pictures: opening a file, its time, and a CPU budget."""

import re
import time
from collections.abc import Sequence
from typing import BinaryIO, Final

import av
from av.container import InputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.stream import Disposition, Stream
from av.video.stream import VideoStream

from earshot.core.errors import InputError
from earshot.media.workers.structure import is_encrypted

MAX_CPU_SECONDS: Final = 60.0  # a file
# What a damaged part of a file raises: those after it may be whole.
DAMAGES: Final = (FFmpegError, IndexError, ValueError, OverflowError, EOFError, OSError)
# What files are that are no recordings, by how they begin, and what to do.
OTHER_FORMATS: Final = {
    b"version https://git-lfs": "it is a pointer of Git LFS, which stands for a file. Fetch that "
    "with: git lfs pull",
    **dict.fromkeys(
        (b"<!doctype html", b"<html", b"<?xml"),
        "it is a web page, as a download gives that wants a login, or failed. Download the "
        "recording itself.",
    ),
    **dict.fromkeys(
        (b"pk\3\4", b"\x1f\x8b", b"bzh", b"7z\xbc\xaf", b"rar!", b"\xfd7zxz"),
        "it is an archive. Unpack it, and use the recordings in it.",
    ),
    **dict.fromkeys(
        (b"\xff\xd8\xff", b"\x89png", b"gif8", b"ii*\0", b"mm\0*"),
        "it is a picture. Use the recording itself.",
    ),
    **dict.fromkeys(
        (b"\2#!silk", b"#!silk"),
        "it is a voice message of WeChat or QQ (SILK), which other programs cannot read. Play it "
        "there, and record it, or convert it to MP3.",
    ),
    b"\0\5\x16\7": "it is what macOS keeps beside a file (its name begins with ._). Use the file "
    "whose name lacks these two signs.",
    **dict.fromkeys(
        (b"nist_1a", b"ajkg"),
        "its sound is packed by Shorten or WavPack. Unpack it with: sph2pipe -f wav, or: "
        "shorten -x",
    ),
    **dict.fromkeys(
        (b"\2dss", b"\3ds2"),
        "it is a recording of a dictation machine (DSS, DS2), which other programs cannot read. "
        "Export it there as WAV.",
    ),
    **dict.fromkeys(
        (b"par1", b"matlab 5.0", b"\x89hdf"),
        "it is a table of numbers (Parquet, MATLAB or HDF5), in which sounds may lie. Save each of "
        "them as WAV.",
    ),
    b"sqlite format 3": "it is a database, such as a project of Audacity. Export its sound as WAV.",
    b"%pdf": "it is a document. Use the recording itself.",
    b"mthd": "it is MIDI, notes without a sound. Render it as WAV first.",
    b"#extm3u": "it is a playlist. Use the recordings that it names.",
    **dict.fromkeys(
        (b"webvtt", b"1\r\n00:", b"1\n00:"), "it holds subtitles. Use the recording itself."
    ),
    b"\x93numpy": "it is an array of NumPy, without a sampling rate. Save it as WAV.",
}
EMPTY: Final = ("The recording is empty.", "Record or upload it again.")
ENCRYPTED: Final = "it is encrypted (DRM), as of a shop or of a streaming service. Use one without."
BLANK: Final = (
    "it holds nothing but zeros, as after a copy or a recording that broke off. Copy it again."
)
TEXT: Final = "it is text. Use the recording itself."
TEXTUAL: Final = re.compile(rb"[^\0-\x08\x0e-\x1f\x7f]+")  # bytes without those that control
PICTURES: Final = (b"heic", b"heix", b"mif1", b"msf1", b"avif")  # brands of files like MP4
UNFINISHED: Final = (
    "it was never finished. The table that is written last is missing, as where a recording or an "
    "upload broke off."
)
# Files of these formats begin at 0, where nothing may be yet; in others the first time stamp is the
# beginning, whatever it is.
FROM_ZERO: Final = ("mov", "matroska")
STILLS: Final = ("mjpeg", "png", "bmp", "gif", "tiff", "webp")  # codecs of pictures
MAX_LEAD: Final = 60.0  # seconds; what begins later is a part of a broadcast, and begins with it
MAX_STEP_BACK: Final = 0.1  # seconds; time stamps that go back further begin again


def open_container(file: BinaryIO, formats: str, unreadable: str) -> InputContainer:
    """Open a file by FFmpeg, if it is in one of the formats (comma-separated).

    Raises InputError(unreadable) where it is not, which names what stands for a recording.
    """
    if is_encrypted(file):
        raise InputError(f"{unreadable.partition(':')[0]}: {ENCRYPTED}")
    file.seek(0)
    try:
        return av.open(file, "r", options={"format_whitelist": formats}, metadata_errors="replace")
    except MemoryError:
        raise
    except (FFmpegError, ValueError, OSError) as error:
        if other := _other(file):
            unreadable = f"{unreadable.partition(':')[0]}: {other}"
        elif isinstance(error, EOFError):  # a head, and nothing behind it
            raise InputError(*EMPTY) from None
        raise InputError(unreadable) from None


def _other(file: BinaryIO) -> str:
    """Return what a file is that is no recording, or ""."""
    file.seek(0)
    head = file.read(4096)
    if head[4:8] == b"ftyp":
        return OTHER_FORMATS[b"\x89png"] if head[8:12] in PICTURES else UNFINISHED
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for mark, sentence in OTHER_FORMATS.items():
        if start.startswith(mark):
            return sentence
    if head and not any(head):
        return BLANK
    return TEXT if TEXTUAL.fullmatch(head) else ""


def is_picture(stream: Stream) -> bool:
    """Whether a stream is the cover of an album, and no video."""
    return bool(stream.disposition & Disposition.attached_pic)


def moving(streams: Sequence[VideoStream]) -> VideoStream | None:
    """Choose the first stream that is no picture, and one of pictures only where there is no other:
    not all programs mark a cover as what it is."""
    videos = [stream for stream in streams if not is_picture(stream)]
    candidates = (
        each for each in videos if not each.codec_context or each.codec_context.name not in STILLS
    )
    return next(candidates, videos[0] if videos else None)


class Timeline:
    """The file's own time, in seconds from its beginning, that all its streams share.

    Time stamps may begin anywhere, and begin again where two recordings were joined: the second
    begins when all of the first is over. end: of all packets so far; restarted: whether any began
    again.
    """

    def __init__(self, container: InputContainer) -> None:
        start = (container.start_time or 0) / av.time_base
        from_zero = container.format.name.startswith(FROM_ZERO) and start <= MAX_LEAD
        self._shift = 0.0 if from_zero else -start
        self._last: dict[int, float] = {}  # stream → when its last packet is decoded
        self.end, self.restarted = 0.0, False

    def place(self, packet: Packet) -> None:
        """Move a packet's time stamps to the file's time."""
        if not packet.time_base:
            return
        unit, stream = float(packet.time_base), packet.stream
        if (
            packet.dts is not None
        ):  # which grow in all streams, unlike those that pictures are shown by
            time = packet.dts * unit + self._shift
            if time < self._last.get(stream.index, time) - MAX_STEP_BACK:
                self._shift += self.end - time
                time, self.restarted = self.end, True
            self._last[stream.index] = time
        shift = round(self._shift / unit)
        if packet.dts is not None:
            packet.dts += shift
        if packet.pts is not None:
            packet.pts += shift
            if not is_picture(stream):
                self.end = max(self.end, (packet.pts + (packet.duration or 0)) * unit)

    def of(self, stamp: int, unit: float) -> float:
        """Convert a time stamp to the file's time in seconds."""
        return stamp * unit + self._shift


class Budget:
    """CPU time for one file, from now on."""

    def __init__(self, seconds: float = MAX_CPU_SECONDS) -> None:
        self._ends = time.process_time() + seconds

    @property
    def spent(self) -> bool:
        return time.process_time() > self._ends

    def check(self) -> None:
        """Raise InputError once it is spent."""
        if self.spent:
            raise InputError("Decoding this file takes too long. Export it shorter, or smaller.")
