"""How sound files are read, by container and codec: length, time, level, and what is said.

    python -m benchmarks.files [--write]    # into docs/reliability.md

Every file holds 3 s with a tone of half a second at 1 s, at -6 dBFS, made here. A row names the
public report of the kind that it stands for, where there is one. A second table has other files,
and what is none (see benchmarks.other_files).
"""

import argparse
import io
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import soundfile

from benchmarks import other_files
from earshot.core.errors import InputError
from earshot.core.paths import ROOT
from earshot.media.audio.load import load, wav_bytes
from synthetic.videos import RATE, beep, encoded, onset, video_file

DOCUMENT: Final = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- files -->\n", "<!-- /files -->"
FRAGMENTED: Final = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
VARIABLE: Final = {"flags": "+qscale", "global_quality": "708"}
LATE: Final = {"picture_seconds": 5.0, "sound_from": 2.0}
TOLERANCE: Final = 0.05  # seconds, of codecs that do not say what they added


@dataclass(frozen=True)
class Case:
    """A file: its container, its codec, how it is made, and what is right of it."""

    container: str
    codec: str
    make: Callable[[], bytes]
    seconds: float = 3.0
    onset: float = 1.0
    report: str = ""


def by_soundfile(form: str, subtype: str, endian: str = "FILE") -> bytes:
    """Write the tone with libsndfile."""
    buffer = io.BytesIO()
    soundfile.write(buffer, beep(), RATE, format=form, subtype=subtype, endian=endian)
    return buffer.getvalue()


def joined(make: Callable[[], bytes]) -> bytes:
    """Join two files, one behind the other."""
    return 2 * make()


def unfinished() -> bytes:
    """Write a WAV whose recorder crashed before it wrote the sizes."""
    data = bytearray(wav_bytes(beep().astype(np.float32), RATE))
    data[4:8] = data[40:44] = bytes(4)
    return bytes(data)


def chunks(*parts: tuple[bytes, bytes]) -> bytes:
    """Write a WAV of these chunks."""
    body = b"WAVE" + b"".join(
        name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2) for name, data in parts
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def floats(*before: tuple[bytes, bytes], block: int = 4) -> bytes:
    """Write a WAV of floats whose head is as short as it can be. before: chunks in front of its
    sound; block: the bytes of a sample, as it says.
    """
    head = struct.pack("<HHIIHH", 3, 1, RATE, RATE * block, block, 32)
    return chunks((b"fmt ", head), *before, (b"data", beep().astype("<f4").tobytes()))


def variable(seconds: float) -> bytes:
    """Encode an MP3 of variable bit rate, without a table: noise, then the tone."""
    noise = 1e-3 * np.random.default_rng(0).standard_normal(round((seconds - 3) * RATE))
    whole = np.concatenate([noise, beep()])
    return encoded(
        "mp3", "libmp3lame", whole, options=VARIABLE, container_options={"write_xing": "0"}
    )


def inverted() -> bytes:
    """Write a stereo file of which one channel is the other upside down."""
    buffer = io.BytesIO()
    soundfile.write(buffer, np.stack([beep(), -beep()], axis=1), RATE, format="WAV")
    return buffer.getvalue()


CASES: Final = (
    Case("WAV", "PCM, 16 bits", partial(encoded, "wav", "pcm_s16le", beep())),
    Case("WAV", "PCM, 24 bits", partial(by_soundfile, "WAV", "PCM_24")),
    Case("WAV", "float, 32 bits", partial(by_soundfile, "WAV", "FLOAT")),
    Case(
        "WAV, never finished",
        "PCM, 16 bits",
        unfinished,
        report="island-io/mila#151",
    ),
    Case(
        "RF64", "PCM, 16 bits", partial(by_soundfile, "RF64", "PCM_16"), report="ossia/score#2279"
    ),
    Case(
        "WAV",
        "IMA ADPCM",
        partial(encoded, "wav", "adpcm_ima_wav", beep()),
        report="googleapis/nodejs-speech#621",
    ),
    Case(
        "WAV", "µ-law", partial(encoded, "wav", "pcm_mulaw", beep()), report="rochars/wavefile#11"
    ),
    Case(
        "WAV, big-endian (RIFX)",
        "PCM, 16 bits",
        partial(by_soundfile, "WAV", "PCM_16", "BIG"),
        report="mackron/dr_libs#210",
    ),
    Case(
        "WAV, big-endian (RIFX)",
        "float, 32 bits",
        partial(by_soundfile, "WAV", "FLOAT", "BIG"),
        report="scipy/scipy#13387",
    ),
    Case(
        "WAV, extensible",
        "PCM, 24 bits",
        partial(by_soundfile, "WAVEX", "PCM_24"),
        report="jmg049/wavers#11",
    ),
    Case(
        "WAV without the extension",
        "float, 32 bits",
        floats,
        report="facebookresearch/svoice#58",
    ),
    Case(
        "WAV, chunks before its sound",
        "float, 32 bits",
        partial(floats, (b"JUNK", bytes(28)), (b"bext", bytes(602)), (b"LIST", b"INFO" + bytes(7))),
        report="swharden/Spectrogram#12",
    ),
    Case(
        "WAV, block size of 0",
        "float, 32 bits",
        partial(floats, block=0),
        report="pdeljanov/Symphonia#409",
    ),
    Case("WAV", "GSM 6.10", partial(by_soundfile, "WAV", "GSM610")),
    Case("WAV, inverted channel", "PCM", inverted, report="m-bain/whisperX#750"),
    Case("AIFF", "PCM, 16 bits", partial(encoded, "aiff", "pcm_s16be", beep())),
    Case("CAF", "ALAC", partial(encoded, "caf", "alac", beep())),
    Case("AU", "PCM, 16 bits", partial(encoded, "au", "pcm_s16be", beep())),
    Case("W64", "PCM, 16 bits", partial(encoded, "w64", "pcm_s16le", beep())),
    Case("VOC", "PCM, 8 bits", partial(encoded, "voc", "pcm_u8", beep())),
    Case("NIST SPHERE", "PCM", partial(by_soundfile, "NIST", "PCM_16"), report="pytorch/audio#868"),
    Case("WavPack", "lossless", partial(encoded, "wv", "wavpack", beep())),
    Case("TTA", "lossless", partial(encoded, "tta", "tta", beep())),
    Case("FLAC", "lossless", partial(encoded, "flac", "flac", beep())),
    Case("MP3", "MP3", partial(encoded, "mp3", "libmp3lame", beep())),
    Case(
        "MP3, variable, no table",
        "MP3",
        partial(variable, 30.0),
        30.0,
        28.0,
        report="m-bain/whisperX#987",
    ),
    Case("two MP3", "MP3", partial(joined, partial(encoded, "mp3", "libmp3lame", beep())), 6.0),
    Case("Ogg", "Opus", partial(video_file, "ogg", [beep()])),
    Case("Ogg", "Vorbis", partial(by_soundfile, "OGG", "VORBIS")),
    Case("chained Ogg", "Opus", partial(joined, partial(video_file, "ogg", [beep()])), 6.0),
    Case("ADTS", "AAC", partial(video_file, "adts", [beep()])),
    Case("LATM", "AAC", partial(encoded, "latm", "aac", beep())),
    Case("AC-3", "AC-3", partial(encoded, "ac3", "ac3", beep()), report="justdan96/tsMuxer#468"),
    Case(
        "E-AC-3",
        "E-AC-3",
        partial(encoded, "eac3", "eac3", beep()),
        report="advplyr/audiobookshelf#4808",
    ),
    Case("M4A", "AAC", partial(encoded, "ipod", "aac", beep())),
    *(
        Case(name, codec, partial(video_file, form, [beep()], picture_seconds=3.0))
        for name, form, codec in (
            ("MP4", "mp4", "AAC"),
            ("MOV", "mov", "AAC"),
            ("Matroska", "matroska", "AAC"),
            ("WebM", "webm", "Opus"),
            ("MPEG-TS", "mpegts", "AAC"),
            ("AVI", "avi", "AAC"),
            ("FLV", "flv", "AAC"),
        )
    ),
    Case("fragmented MP4", "AAC", partial(video_file, "mp4", [beep()], options=FRAGMENTED)),
    *(
        Case(
            f"{name}, sound from 2 s",
            codec,
            partial(video_file, form, [beep()], **LATE),
            5.0,
            3.0,
            report,
        )
        for name, form, codec, report in (
            ("MP4", "mp4", "AAC", "McCloudS/subgen#305"),
            ("Matroska", "matroska", "AAC", "HandBrake/HandBrake#465"),
            ("WebM", "webm", "Opus", ""),
            ("MPEG-TS", "mpegts", "AAC", ""),
        )
    ),
    *(
        Case(
            f"{name}, gap of 10 s",
            codec,
            partial(video_file, form, [beep(5, at=4)], 5.0, gap=(2.0, 10.0)),
            15.0,
            14.0,
            "SYSTRAN/faster-whisper#128" if form == "webm" else "",
        )
        for name, form, codec in (("WebM", "webm", "Opus"), ("MPEG-TS", "mpegts", "AAC"))
    ),
    Case(
        "two WebM",
        "Opus",
        partial(joined, partial(video_file, "webm", [beep()], 3.0)),
        6.0,
        report="streamproc/MediaStreamRecorder#44",
    ),
    Case(
        "Matroska, first track silent",
        "AAC",
        partial(video_file, "matroska", [np.zeros(3 * RATE), beep()]),
        report="SubtitleEdit/subtitleedit#6110",
    ),
)


def row(case: Case) -> str:
    """Read a file, and write the result as a row of the table."""
    try:
        recording = load(case.make())
    except InputError as error:
        return f"| {case.container} | {case.codec} | | | | {error} | {case.report} | no |"
    waveform = recording.waveform
    time, level = onset(waveform, recording.sample_rate), 20 * math.log10(np.abs(waveform).max())
    right = max(abs(recording.seconds - case.seconds), abs(time - case.onset)) <= 2 * TOLERANCE
    return (
        f"| {case.container} | {case.codec} | {recording.seconds:.2f} of {case.seconds:.2f} | "
        f"{time:.2f} of {case.onset:.2f} | {level:.1f} | {' '.join(recording.notices)} | "
        f"{case.report} | {'yes' if right else 'no'} |"
    )


def table() -> str:
    """Read all files, and write the table in Markdown."""
    heads = "container", "codec", "length, s", "tone at, s", "peak, dBFS", "what is said"
    head = f"| {' | '.join(heads)} | report | right |"
    return "\n".join([head, "|---" * 8 + "|", *map(row, CASES)]) + "\n"


def main() -> None:
    """Print the table, and write it into the document if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"into {DOCUMENT.name}")
    tables = f"{table()}\n{other_files.table()}"
    if parser.parse_args().write:
        write_into(DOCUMENT, tables)
    print(tables, end="")


def write_into(document: Path, text: str) -> None:
    """Put the table between its marks in a document."""
    before, _, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    document.write_text(f"{before}{BEGIN}{text}{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
