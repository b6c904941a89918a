"""Encode speech as the file that its name says."""

import io
from typing import Final

import av
import numpy as np

from earshot.media.audio.load import to_int16, wav_bytes

MADE_BY: Final = "Converted by Earshot"  # what every file of synthetic speech says of itself
# Ending of a name → container and codec; WAV is written without FFmpeg.
FORMATS: Final = {
    ".wav": ("wav", "pcm_s16le"),
    ".flac": ("flac", "flac"),
    ".mp3": ("mp3", "libmp3lame"),
    ".m4a": ("ipod", "aac"),
    ".ogg": ("ogg", "libopus"),
    ".opus": ("ogg", "libopus"),
}


def encode_audio(waveform: np.ndarray, sample_rate: int, ending: str) -> bytes:
    """Encode a waveform (T,) in [-1, 1] as one of FORMATS, with the comment MADE_BY.

    ending: in any case, ".mp3" or ".MP3".
    """
    form, codec = FORMATS[ending.lower()]
    if form == "wav":
        return wav_bytes(waveform, sample_rate, MADE_BY)
    file = io.BytesIO()
    with av.open(file, "w", format=form) as container:
        container.metadata["comment"] = MADE_BY
        stream = container.add_stream(codec, rate=sample_rate, layout="mono")
        assert isinstance(stream, av.AudioStream)
        frame = av.AudioFrame.from_ndarray(to_int16(waveform)[None], format="s16", layout="mono")
        frame.sample_rate, frame.pts = sample_rate, 0
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    return file.getvalue()
