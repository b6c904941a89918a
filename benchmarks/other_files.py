"""What is made of files that are no plain recording: tables, archives, videos, and what is none.

Each kind is made here, and names the public report that it comes from. `python -m benchmarks.files`
prints the table.
"""

import gzip
import io
import struct
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import av
import numpy as np

from earshot.core.errors import InputError
from earshot.media.audio.load import load, wav_bytes
from earshot.media.video import frames
from earshot.sound_index.scan import CAPTIONS, read_captions
from earshot.study.design import folder
from earshot.study.imports.toolkits import read_ratings
from synthetic.videos import RATE, beep, video_file

TONE: Final = beep().astype(np.float32)
WAV: Final = wav_bytes(TONE, RATE)
COLUMNS: Final = ("session_test_id", "session_uuid", "trial_id", "rating_stimulus", "rating_score")
SCORES: Final = {"reference": 98.5, "C1": 70.0, "C2": 60.0}
MEANS: Final = "C1 70.0, C2 60.0, reference 98.5"


@dataclass(frozen=True)
class Kind:
    """A kind of file: what it is, whose report it comes from, what is made of it, in words, and
    which words are right."""

    what: str
    report: str
    outcome: Callable[[], str]
    right: str


def of_recording(data: bytes) -> str:
    """Describe a recording as it is read."""
    recording = load(data)
    level = 20 * np.log10(np.abs(recording.waveform).max())
    return f"{recording.seconds:.1f} s, {level:.0f} dBFS"


def of_ratings(content: bytes) -> str:
    """Describe a table of ratings by the means of its systems."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "ratings.csv")
        file.write_bytes(content)
        answers = read_ratings(file).table.groupby("system")["answer"]
    return ", ".join(f"{system} {of_one.mean():.1f}" for system, of_one in answers)


def of_captions(content: bytes) -> str:
    """Describe a table of captions by its first caption."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, CAPTIONS)
        file.write_bytes(content)
        return next(iter(read_captions(file).values())).first_caption


def of_archive(names: Sequence[str]) -> str:
    """Describe what is found of a listening test in a zip with a recording of each name."""
    with tempfile.TemporaryDirectory() as place:
        file, target = Path(place, "sent.zip"), Path(place, "found")
        with zipfile.ZipFile(file, "w") as archive:
            for name in names:
                archive.writestr(name, WAV if Path(name).suffix == ".wav" else b"\0\5\x16\7")
        folder.unpack([file], target)
        return f"systems {', '.join(folder.systems(target))}"


def of_video(content: bytes) -> str:
    """Describe a video by the times of its pictures."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "video")
        file.write_bytes(content)
        times = [frame.time for frame in frames(file, 30)]
    return f"{len(times)} pictures, until {times[-1]:.1f} s"


def ratings(quote: str = "", space: str = "", comment: str = "fine", end: str = "\r\n") -> str:
    """Write ratings as webMUSHRA does."""
    rows = [(*COLUMNS, "rating_time", "rating_comment")]
    rows += [
        ("test", f"session-{rater}", "t1", name, str(score), "9000", comment)
        for rater in range(3)
        for name, score in SCORES.items()
    ]
    between = f",{space}"
    return "".join(between.join(f"{quote}{c}{quote}" for c in row) + end for row in rows)


def louder_opus(gain: float) -> bytes:
    """Let the head of an Opus file ask for so many dB more."""
    data = bytearray(video_file("ogg", [beep()]))
    place = data.find(b"OpusHead") + 16
    data[place : place + 2] = struct.pack("<h", round(gain * 256))
    end = 27 + data[26] + sum(data[27 : 27 + data[26]])
    data[22:26] = bytes(4)
    data[22:26] = struct.pack("<I", _checksum(bytes(data[:end])))
    return bytes(data)


def _checksum(page: bytes) -> int:
    """Compute the CRC of a page of Ogg."""
    crc = 0
    for byte in page:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1) ^ (0x104C11DB7 if crc & 0x80000000 else 0)
    return crc


def animation() -> bytes:
    """Make an animated GIF."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="gif") as container:
        stream = container.add_stream("gif", rate=10)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "rgb8"
        for grey in (0, 90, 180):
            image = np.full((32, 32, 3), grey, np.uint8)
            frame = av.VideoFrame.from_ndarray(image, "rgb24").reformat(format="rgb8")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def in_containers() -> bytes:
    """Put 24 bits into 32 in a WAV that does not say so by its kind."""
    head = struct.pack("<HHIIHH", 1, 1, RATE, RATE * 4, 4, 24)
    data = (np.round(TONE * 8_388_607).astype("<i4") << 8).tobytes()
    body = b"WAVEfmt " + struct.pack("<I", len(head)) + head
    body += b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


PACKED: Final = gzip.compress(WAV)
KINDS: Final = (
    Kind(
        "a WAV without its fmt chunk",
        "NTT123/Vietnamese-Text-To-Speech-Dataset#2",
        lambda: of_recording(b"RIFF" + WAV[4:12] + WAV[36:]),
        "cannot be read as audio",
    ),
    Kind(
        "a WAV of 24 bits in 32",
        "xiph/flac#301",
        lambda: of_recording(in_containers()),
        "does not say whether they are whole numbers",
    ),
    Kind(
        "an MP4 that was never finished",
        "jhj0517/Whisper-WebUI#415",
        lambda: of_recording(video_file("mp4", [beep()])[:-900]),
        "never finished",
    ),
    Kind(
        "Opus whose head asks for -12 dB",
        "MusicPlayerDaemon/MPD#957",
        lambda: of_recording(louder_opus(-12)),
        "3.0 s, -18 dBFS",
    ),
    Kind("a packed recording", "", lambda: of_recording(PACKED), "an archive"),
    Kind("a web page", "", lambda: of_recording(b"\n<!DOCTYPE html><html>"), "a web page"),
    Kind("MIDI", "", lambda: of_recording(b"MThd\0\0\0\6\0\1\0\1\0\x60MTrk"), "MIDI"),
    Kind("a playlist", "", lambda: of_recording(b"#EXTM3U\n#EXTINF:10,\n1.ts"), "playlist"),
    Kind("subtitles", "", lambda: of_recording(b"WEBVTT\n\n00:01.000 -->"), "subtitles"),
    Kind(
        "ratings with spaces before quotes",
        "python/cpython#117286",
        lambda: of_ratings(ratings('"', " ", comment="so, so").encode()),
        MEANS,
    ),
    Kind(
        "ratings of two files, put together with their heads",
        "whitfin/s3-concat#3",
        lambda: of_ratings((ratings() + ratings().replace("session-", "other-")).encode()),
        MEANS,
    ),
    Kind(
        "ratings with line breaks in comments",
        "TEAMMATES/teammates#1062",
        lambda: of_ratings(ratings(comment='"first\nsecond, third"').encode()),
        MEANS,
    ),
    Kind(
        "ratings as Excel writes CSV (Macintosh)",
        "zesty-io/manager-ui#45",
        lambda: of_ratings(ratings(comment="schön", end="\r").encode("mac_roman")),
        MEANS,
    ),
    Kind(
        "ratings with a number of 1,098.5",
        "instructure/canvas-lms#1394",
        lambda: of_ratings(ratings().replace("98.5", '"1,098.5"').encode()),
        "rating_score is “1,098.5”, and no number from 0 to 100",
    ),
    Kind(
        "a workbook of Excel called .csv",
        "mindsdb/mindshub#4912",
        lambda: of_ratings(b"PK\3\4" + bytes(range(256))),
        "a spreadsheet's own",
    ),
    Kind(
        "captions with commas, without quotes",
        "o19s/quepid#482",
        lambda: of_captions(b"file,kind,caption\n1.wav,dog,A dog, far away\n"),
        "Row 2 has 4 cells",
    ),
    Kind(
        "a zip made by macOS",
        "w-okada/ttsclient#17",
        partial(of_archive, ["a/1.wav", "b/1.wav", "__MACOSX/a/._1.wav", "a/.DS_Store"]),
        "systems a, b",
    ),
    Kind(
        "a video whose pictures stop for 10 s",
        "SYSTRAN/faster-whisper#128",
        lambda: of_video(video_file("webm", [beep(2)], 2.0, gap=(1.0, 10.0))),
        "50 pictures, until 12.0 s",
    ),
    Kind(
        "an animated GIF for a video",
        "facefusion/facefusion#914",
        lambda: of_video(animation()),
        "cannot be read as video",
    ),
)


def row(kind: Kind) -> str:
    """Write what is made of a file as a row of the table."""
    try:
        outcome = kind.outcome()
    except InputError as error:
        outcome = error.message
    right = "yes" if kind.right in outcome else "no"
    return f"| {kind.what} | {outcome} | {kind.report} | {right} |"


def table() -> str:
    """Write all kinds as Markdown."""
    head = "| what | what comes of it | report | right |\n|---|---|---|---|"
    return "\n".join([head, *map(row, KINDS)]) + "\n"
