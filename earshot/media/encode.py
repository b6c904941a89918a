"""Encode speech as the audio file that its name says, and frames as MP4, with speech or without."""

import io
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

import av
import numpy as np

from earshot.media.audio.load import to_int16, wav_bytes
from earshot.media.audio.speech import MADE_BY
from earshot.media.video import Frame

# Ending of a name → container and codec; WAV is written without FFmpeg.
FORMATS: Final = {
    ".wav": ("wav", "pcm_s16le"),
    ".flac": ("flac", "flac"),
    ".mp3": ("mp3", "libmp3lame"),
    ".m4a": ("ipod", "aac"),
    ".ogg": ("ogg", "libopus"),
    ".opus": ("ogg", "libopus"),
}
NO_TAGS: Final = {"mp3": {"id3v2_version": "0"}}  # options of a container without metadata


def encode_audio(
    waveform: np.ndarray,
    sample_rate: int,
    ending: str,
    comment: str = MADE_BY,
    bit_rate: int | None = None,
) -> bytes:
    """Encode a waveform (T,) in [-1, 1] as one of FORMATS, with a comment; where that is empty, the
    file holds no metadata at all, and no version of an encoder.

    ending: in any case, ".mp3" or ".MP3"; bit_rate: in bit/s, else the codec's own.
    """
    form, codec = FORMATS[ending.lower()]
    if form == "wav":
        return wav_bytes(waveform, sample_rate, comment)
    file = io.BytesIO()
    plain = {} if comment else {"fflags": "+bitexact"} | NO_TAGS.get(form, {})
    with av.open(file, "w", format=form, options=plain) as container:
        if comment:
            container.metadata["comment"] = comment
        flags = {} if comment else {"flags": "+bitexact"}
        stream = container.add_stream(codec, rate=sample_rate, layout="mono", options=flags)
        assert isinstance(stream, av.AudioStream)
        if bit_rate:
            stream.bit_rate = bit_rate
        frame = av.AudioFrame.from_ndarray(to_int16(waveform)[None], format="s16", layout="mono")
        frame.sample_rate, frame.pts = sample_rate, 0
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    return file.getvalue()


TIME_BASE: Final = Fraction(1, 1000)  # s, the unit of time stamps
PRESET: Final = "veryfast"  # x264's preset
CRF: Final = "26"  # x264's constant rate factor
BITRATE: Final = 64_000  # bit/s of the audio track


class SilentVideo:
    """Frames as H.264 without audio, at their time stamps, as they come: an MP4 file.

    Width and height must be even, as earshot.media.video gives them; at least one frame is needed.
    """

    def __init__(self) -> None:
        self._file = io.BytesIO()
        self._container = av.open(self._file, "w", format="mp4")
        self._stream = self._container.add_stream("libx264", options={"preset": PRESET, "crf": CRF})
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.time_base = self._stream.time_base = TIME_BASE

    def write(self, frame: Frame) -> None:
        """Add a frame, which is later than all before it."""
        if not self._stream.codec_context.is_open:
            self._stream.height, self._stream.width = frame.image.shape[:2]
        picture = av.VideoFrame.from_ndarray(frame.image, format="rgb24")
        picture.pts, picture.time_base = round(frame.time / TIME_BASE), TIME_BASE
        self._container.mux(self._stream.encode(picture))

    def finish(self) -> bytes:
        """End the file, and return its bytes."""
        self._container.mux(self._stream.encode())
        self._container.close()
        return self._file.getvalue()


def encode_video(frames: Iterable[Frame]) -> bytes:
    """Encode frames as a SilentVideo."""
    video = SilentVideo()
    for frame in frames:
        video.write(frame)
    return video.finish()


def add_audio(
    video: bytes, waveform: np.ndarray, sample_rate: int, comment: str = MADE_BY
) -> bytes:
    """Add speech (T,), in [-1, 1], to a silent MP4 as AAC; its frames stay as they are. comment:
    that of synthetic speech, unless it is none.
    """
    file = io.BytesIO()
    with av.open(io.BytesIO(video), "r") as source, av.open(file, "w", format="mp4") as container:
        container.metadata["comment"] = comment
        track = container.add_stream_from_template(source.streams.video[0])
        audio = container.add_stream("aac", rate=sample_rate, layout="mono", bit_rate=BITRATE)
        for packet in source.demux(video=0):
            if packet.dts is not None:  # the last packet only marks the end
                packet.stream = track
                container.mux(packet)
        samples = av.AudioFrame.from_ndarray(to_int16(waveform)[None], format="s16", layout="mono")
        # The time stamp lets the file state the encoder's delay.
        samples.sample_rate, samples.time_base = sample_rate, Fraction(1, sample_rate)
        samples.pts = 0
        container.mux([*audio.encode(samples), *audio.encode()])
    return file.getvalue()
