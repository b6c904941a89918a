"""Sound and pictures with the time stamps that recorders, editors and networks give them."""

import io
from collections.abc import Sequence

import av
import numpy as np
from av.stream import Disposition

RATE = 48_000  # Hz
FRAMES_PER_SECOND = 25
CODECS = {"webm": ("libvpx", "libopus"), "ogg": ("", "libopus")}
H264_AAC = ("libx264", "aac")


def beep(seconds: float = 3.0, at: float = 1.0, hz: float = 440.0) -> np.ndarray:
    """Make silence with a tone of half a second, by which its time is known: (T,) at RATE."""
    time = np.arange(round(seconds * RATE)) / RATE
    return 0.5 * np.sin(2 * np.pi * hz * time) * ((time >= at) & (time < at + 0.5))


def onset(waveform: np.ndarray, rate: int) -> float:
    """Find when a recording (T,) becomes loud, in seconds."""
    return float(np.argmax(np.abs(waveform) > 0.1 * np.abs(waveform).max()) / rate)


def video_file(
    form: str,
    tracks: Sequence[np.ndarray],
    picture_seconds: float = 0.0,
    sound_from: float = 0.0,
    picture_from: float = 0.0,
    gap: tuple[float, float] = (np.inf, 0.0),
    default: int | None = None,
    options: dict[str, str] | None = None,
) -> bytes:
    """Write a file of the container with each track's waveform (T,) and with pictures, or without.

    gap: from when on, and by how many seconds, all time stamps are later; default: the track that
    is marked so.
    """
    picture_codec, sound_codec = CODECS.get(form, H264_AAC)
    packets, buffer = [], io.BytesIO()
    with av.open(buffer, "w", format=form, options=options or {}) as container:
        streams: list[av.AudioStream | av.VideoStream] = []
        if picture_seconds:
            video = container.add_stream(picture_codec, rate=FRAMES_PER_SECOND)
            assert isinstance(video, av.VideoStream)
            video.width, video.height, video.pix_fmt = 32, 32, "yuv420p"
            streams.append(video)
        for _ in tracks:
            audio = container.add_stream(sound_codec, rate=RATE, layout="mono")
            assert isinstance(audio, av.AudioStream)
            streams.append(audio)
        for stream in streams:
            if isinstance(stream, av.VideoStream):
                image = np.zeros((32, 32, 3), np.uint8)
                frames = [
                    av.VideoFrame.from_ndarray(image, "rgb24")
                    for _ in range(round(picture_seconds * FRAMES_PER_SECOND))
                ]
            else:
                sound = tracks[stream.index - bool(picture_seconds)]
                samples = np.round(32_767 * sound).astype(np.int16)[None]
                frames = [av.AudioFrame.from_ndarray(samples, "s16", "mono")]
                frames[0].sample_rate, frames[0].pts = RATE, 0
                marked = default in (None, stream.index - bool(picture_seconds))
                stream.disposition = Disposition.default if marked else Disposition(0)
            for frame in [*frames, None]:
                packets += stream.encode(frame)  # pyrefly: ignore[bad-argument-type]
        container.start_encoding()
        for packet in packets:
            late = picture_from if packet.stream.type == "video" else sound_from
            if packet.dts * packet.time_base >= gap[0]:
                late += gap[1]
            shift = round(late / packet.time_base)
            packet.dts, packet.pts = packet.dts + shift, packet.pts + shift
        for packet in sorted(packets, key=lambda p: p.dts * p.time_base):
            container.mux(packet)
    return buffer.getvalue()


def encoded(
    form: str,
    codec: str,
    waveform: np.ndarray,
    rate: int = RATE,
    cover: bool = False,
    options: dict[str, str] | None = None,
    container_options: dict[str, str] | None = None,
) -> bytes:
    """Encode a mono file of the waveform (T,) at RATE in a container and codec, with an album's
    cover or without. options: of the codec.
    """
    buffer = io.BytesIO()
    samples = np.round(32_767 * waveform[:: RATE // rate]).astype(np.int16)[None]
    frame = av.AudioFrame.from_ndarray(samples, "s16", "mono")
    frame.sample_rate, frame.pts = rate, 0
    with av.open(buffer, "w", format=form, options=container_options or {}) as container:
        stream = container.add_stream(codec, rate=rate, layout="mono", options=options or {})
        assert isinstance(stream, av.AudioStream)
        picture = container.add_stream("mjpeg") if cover else None
        if picture is not None:
            assert isinstance(picture, av.VideoStream)
            picture.width, picture.height, picture.pix_fmt = 32, 32, "yuvj420p"
            picture.disposition = Disposition.attached_pic
        packets = [*stream.encode(frame), *stream.encode(None)]
        if picture is not None:
            image = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), "rgb24")
            packets = [*picture.encode(image), *picture.encode(None), *packets]
        for packet in packets:
            container.mux(packet)
    return buffer.getvalue()
