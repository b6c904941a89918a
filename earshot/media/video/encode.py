"""Encode videos as MP4: frames with time stamps, and an audio track added to them."""

import io
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

import av
import numpy as np

from earshot.media.audio.load import to_int16
from earshot.media.video.decode import Frame

TIME_BASE: Final = Fraction(1, 1000)  # s, the unit of time stamps
PRESET: Final = "veryfast"  # x264's preset
CRF: Final = "26"  # x264's constant rate factor
BITRATE: Final = 64_000  # bit/s of the audio track


def encode_video(frames: Iterable[Frame]) -> bytes:
    """Encode frames as H.264 without audio, at their time stamps: the bytes of an MP4 file.

    Width and height must be even, as earshot.media.video gives them; at least one frame is needed.
    """
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", options={"preset": PRESET, "crf": CRF})
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = stream.time_base = TIME_BASE
        for time, image in frames:
            if not stream.codec_context.is_open:
                stream.height, stream.width = image.shape[:2]
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.pts, frame.time_base = round(time / TIME_BASE), TIME_BASE
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return file.getvalue()


def add_audio(video: bytes, waveform: np.ndarray, sample_rate: int) -> bytes:
    """Add the waveform (T,) in [-1, 1] to a silent MP4 as AAC; its frames stay as they are."""
    file = io.BytesIO()
    with av.open(io.BytesIO(video), "r") as source, av.open(file, "w", format="mp4") as container:
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
