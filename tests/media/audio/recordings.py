"""A tone as a recording, in the formats that visitors bring, and whether it is still there."""

import io

import av
import numpy as np

from earshot.media.audio.load import to_int16

RATE = 48_000


def tone(seconds: float = 2.0, rate: int = RATE, level: float = 0.3) -> np.ndarray:
    return level * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)


def encode(
    waveform: np.ndarray, form: str, codec: str, rate: int = RATE, options: dict | None = None
) -> bytes:
    """A stereo file of the waveform (T,) in the container and codec."""
    buffer = io.BytesIO()
    samples = np.repeat(to_int16(waveform), 2)[None]
    frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="stereo")
    frame.sample_rate = rate
    with av.open(buffer, "w", format=form, options=options or {}) as container:
        stream = container.add_stream(codec, rate=rate)
        assert isinstance(stream, av.AudioStream)
        stream.layout = "stereo"
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    return buffer.getvalue()


def video(with_sound: bool) -> bytes:
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="webm") as container:
        picture = container.add_stream("libvpx", rate=10)
        picture.width, picture.height, picture.pix_fmt = 32, 32, "yuv420p"
        sound = container.add_stream("libopus", rate=RATE, layout="mono") if with_sound else None
        for _ in range(20):
            frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
            container.mux(picture.encode(frame))
        container.mux(picture.encode(None))
        if sound:
            frame = av.AudioFrame.from_ndarray(to_int16(tone())[None], format="s16", layout="mono")
            frame.sample_rate = RATE
            container.mux([*sound.encode(frame), *sound.encode(None)])
    return buffer.getvalue()


def is_tone(waveform: np.ndarray, rate: int = 16_000, level: float = 0.3) -> bool:
    """Whether the middle of the waveform is a 440 Hz tone of that level."""
    middle = waveform[len(waveform) // 4 : len(waveform) // 4 + rate // 2]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    frequency = np.argmax(spectrum) * rate / len(middle)
    return bool(abs(frequency - 440) < 4 and abs(np.sqrt(2 * np.mean(middle**2)) - level) < 0.03)
