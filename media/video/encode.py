"""Films to show: the pictures that were read, with the speech that was read from them, as MP4."""

import io
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

import av
import numpy as np

from media.audio.load import to_int16
from media.video.decode import Frame

CLOCK: Final = Fraction(1, 1000)  # s that a time stamp counts in
SPEED: Final = "veryfast"  # x264's preset
QUALITY: Final = "26"  # x264's constant rate factor
BITRATE: Final = 64_000  # bit/s of the sound


def silent_film(pictures: Iterable[Frame]) -> bytes:
    """The pictures as H.264 without sound, shown at their times.

    Sizes must be even, as media.video gives them; there must be one picture at least.
    """
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", options={"preset": SPEED, "crf": QUALITY})
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = stream.time_base = CLOCK
        for time, image in pictures:
            if not stream.codec_context.is_open:
                stream.height, stream.width = image.shape[:2]
            picture = av.VideoFrame.from_ndarray(image, format="rgb24")
            picture.pts, picture.time_base = round(time / CLOCK), CLOCK
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    return file.getvalue()


def with_sound(film: bytes, waveform: np.ndarray, sample_rate: int) -> bytes:
    """A silent film with the waveform (T,) in [-1, 1] as AAC; its pictures are not coded anew."""
    file = io.BytesIO()
    with av.open(io.BytesIO(film), "r") as source, av.open(file, "w", format="mp4") as container:
        pictures = container.add_stream_from_template(source.streams.video[0])
        sound = container.add_stream("aac", rate=sample_rate, layout="mono", bit_rate=BITRATE)
        for packet in source.demux(video=0):
            if packet.dts is not None:  # the last one only says that there are no more
                packet.stream = pictures
                container.mux(packet)
        frame = av.AudioFrame.from_ndarray(to_int16(waveform)[None], format="s16", layout="mono")
        # With a time, for the encoder begins before it, and the film has to say how long before.
        frame.sample_rate, frame.time_base, frame.pts = sample_rate, Fraction(1, sample_rate), 0
        container.mux([*sound.encode(frame), *sound.encode()])
    return file.getvalue()
