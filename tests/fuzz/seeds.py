"""Small valid files of every container and codec that browsers record and phones send.

Made here from synthetic sound and pictures, so that nothing of them has another owner.
"""

import io
import json
import struct
import zipfile
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, Final

import av
import numpy as np
import soundfile
from av.container import OutputContainer

from benchmarks.support.hostile import END, upload_part
from synthetic.videos import video_file

RATE: Final = 16_000
FRAGMENTED: Final = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}


def tone(seconds: float = 0.4, rate: int = RATE) -> np.ndarray:
    """A rising tone with some noise, float32 (T,)."""
    time = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(0).standard_normal(len(time))
    return (0.3 * np.sin(2 * np.pi * (300 + 500 * time) * time) + 0.01 * noise).astype(np.float32)


def audio(
    form: str, codec: str, rate: int = RATE, layout: str = "mono", options: dict | None = None
) -> bytes:
    """The tone in a container and codec."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=form, options=options or {}) as container:
        stream = container.add_stream(codec, rate=rate, layout=layout)
        assert isinstance(stream, av.AudioStream)
        _mux_tone(container, stream, rate, layout)
    return buffer.getvalue()


def video(
    form: str, codec: str, sound: str | None = None, options: dict | None = None, turn: bool = False
) -> bytes:
    """Ten small pictures, with the tone if ``sound`` names its codec; turned as phones write it."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=form, options=options or {}) as container:
        stream = container.add_stream(codec, rate=25, options={"g": "5"})
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        audio = container.add_stream(sound, rate=48_000, layout="mono") if sound else None
        noise = np.random.default_rng(0).integers(0, 255, (10, 48, 64, 3), np.uint8)
        for number, image in enumerate(noise):
            frame = av.VideoFrame.from_ndarray(image, format="rgb24").reformat(format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, 25)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        if isinstance(audio, av.AudioStream):
            _mux_tone(container, audio, 48_000, "mono")
    data = bytearray(buffer.getvalue())
    if turn:
        matrix = data.index(b"tkhd") + 44
        numbers = (0, 1, 0, -1, 0, 0, 0, 0, 1 << 14)
        data[matrix : matrix + 36] = struct.pack(">9i", *(n << 16 for n in numbers))
    return bytes(data)


def _mux_tone(container: OutputContainer, stream: av.AudioStream, rate: int, layout: str) -> None:
    channels = av.AudioLayout(layout).nb_channels
    samples = np.repeat((tone(rate=rate) * 32767).astype(np.int16), channels)[None]
    frame = av.AudioFrame.from_ndarray(samples, format="s16", layout=layout)
    frame.sample_rate, frame.pts, frame.time_base = rate, 0, Fraction(1, rate)
    for packet in [*stream.encode(frame), *stream.encode(None)]:
        container.mux(packet)


def _by_soundfile(form: str, subtype: str) -> bytes:
    buffer = io.BytesIO()
    soundfile.write(buffer, tone(), RATE, format=form, subtype=subtype)
    return buffer.getvalue()


def _units() -> bytes:
    document = {"model": "vqvae-64", "fingerprint": "0" * 16, "step": 0.04, "codes": [3, 3, -1, 9]}
    return json.dumps(document).encode()


def _yaml() -> bytes:
    lines = (
        "title: Which?",
        "design: ab",
        "loudness: -23",
        "systems:",
        "  a: a/*.wav",
        "  b: b/*.wav",
    )
    return "\n".join(lines).encode()


def _captions() -> bytes:
    lines = ("file,kind,caption", "a.wav,dog,A dog barks | It barks", 'b.wav,rain,"Rain, hard"')
    return "\n".join(lines).encode()


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for system in "ab":
            file.writestr(f"{system}/one.wav", audio("wav", "pcm_s16le"))
        file.writestr("test.yaml", _yaml())
    return buffer.getvalue()


SOUNDS: Final[dict[str, Callable[[], bytes]]] = {
    "wav": lambda: audio("wav", "pcm_s16le"),
    "wav-float": lambda: audio("wav", "pcm_f32le"),
    "w64": lambda: audio("w64", "pcm_s16le"),
    "caf": lambda: audio("caf", "pcm_s16be"),
    "aiff": lambda: audio("aiff", "pcm_s16be"),
    "flac": lambda: audio("flac", "flac", layout="stereo"),
    "mp3": lambda: audio("mp3", "libmp3lame"),
    "vorbis": lambda: _by_soundfile("OGG", "VORBIS"),
    "opus": lambda: audio("ogg", "libopus", 48_000),
    "webm-opus": lambda: audio("webm", "libopus", 48_000, options={"live": "1"}),
    "aac": lambda: audio("adts", "aac"),
    "m4a": lambda: audio("mp4", "aac"),
    "m4a-fragmented": lambda: audio("mp4", "aac", options=FRAGMENTED),
    "wavpack": lambda: audio("wv", "wavpack"),
    "voc": lambda: audio("voc", "pcm_u8"),
    "sphere": lambda: _by_soundfile("NIST", "PCM_16"),
    "wav-joined": lambda: 2 * audio("wav", "pcm_s16le"),
    "opus-chained": lambda: 2 * audio("ogg", "libopus", 48_000),
    "m4a-joined": lambda: 2 * audio("mp4", "aac"),
    "webm-joined": lambda: 2 * audio("webm", "libopus", 48_000),
    "ts-late": lambda: video_file("mpegts", [tone(rate=48_000)], 0.4, sound_from=0.3),
    "mkv-tracks": lambda: video_file("matroska", [0 * tone(rate=48_000), tone(rate=48_000)]),
    "mp4-gap": lambda: video_file("mp4", [tone(rate=48_000)], 0.4, gap=(0.2, 1.0)),
}
OGG: Final = ("vorbis", "opus", "opus-chained")
VIDEOS: Final[dict[str, Callable[[], bytes]]] = {
    "vp8": lambda: video("webm", "libvpx", "libopus"),
    "vp9": lambda: video("webm", "libvpx-vp9", "libopus"),
    "mp4": lambda: video("mp4", "libx264", "aac"),
    "mp4-fragmented": lambda: video("mp4", "libx264", "aac", FRAGMENTED),
    "mov-turned": lambda: video("mov", "libx264", "aac", turn=True),
    "avi": lambda: video("avi", "mpeg4", "libmp3lame"),
}
DOCUMENTS: Final[dict[str, Callable[[], bytes]]] = {
    "units": _units,
    "yaml": _yaml,
    "captions": _captions,
    "zip": _zip,
}
TOKEN: Final = "a-rater-of-the-fuzzer"
ANSWER: Final = {"rater": TOKEN, "order": 0, "plays": [1, 1], "milliseconds": 900}
# By the name of the design and of the route: what the rater's page sends.
REQUESTS: Final[dict[str, dict[str, Any]]] = {
    "ab/consent": {"rater": TOKEN},
    "ab/headphones": {"rater": TOKEN, "attempt": 0, "answers": [1, 2, 3, 1, 2, 3]},
    "ab/answer": {**ANSWER, "answer": "a"},
    "acr/answer": {**ANSWER, "answer": 3, "plays": [1]},
    "mushra/answer": {**ANSWER, "answer": [90, 50, 30, 10, 0], "plays": [1] * 6},
    "acr/withdraw": {"rater": TOKEN + "-who-leaves"},
}

UNITS: Final = {"model": "vqvae-64", "fingerprint": "", "step": 0.04, "codes": [3, 3, -1, 9]}
NOWHERE: Final = {"path": "/nowhere.wav", "meta": {"_type": "gradio.FileData"}}
# By the name of an endpoint for programs: its inputs.
CALLS: Final[dict[str, list[Any]]] = {
    "api/embed_text": ["butterfly"],
    "api/nearest": [[0.1] * 256, "spoken", 5],
    "api/search_sounds": ["a dog barks", "rain"],
    "api/similar_sounds": [NOWHERE, "a dog barks", ""],
    "api/decode": [UNITS, "TF2", "griffin-lim", "predicted"],
    "api/convert": [NOWHERE, "TF2", "vqvae-64", "griffin-lim", "keep"],
    "api/speak_as_nobody": [NOWHERE, 0.8, "continuous"],
    "api/lip_to_speech": [{"video": NOWHERE}, "neural", "face"],
    "api/check_listening_test": [NOWHERE],
    "api/draft_listening_test": [NOWHERE, "ab", "", "", "", "", "", "20"],
    "api/detect": [NOWHERE],
    "api/encode": [NOWHERE, "vqvae-64"],
    "api/transcribe": [NOWHERE],
    "api/embed_audio": [NOWHERE],
    "api/embed_words": [[NOWHERE]],
    "api/compare_words": [[NOWHERE, NOWHERE], "butterfly"],
    "api/check_pronunciation": [NOWHERE, "butterfly"],
    "api/find_word": [NOWHERE, "butterfly", None],
    "api/respeak": [120, 0.5, "neural", "set"],
}
ANSWERED: Final = {"data": ["butterfly"], "session_hash": "of-the-fuzzer"}
TOOL: Final = {"name": "embed_text", "arguments": {"text": "butterfly"}}
# By what it is to the framework's own routes: a body, in JSON unless it is bytes already.
FRAMEWORK: Final[dict[str, Any]] = {
    "web/join": {**ANSWERED, "fn_index": 0, "trigger_id": 1, "event_data": None},
    "web/named": {"text": "butterfly"},
    "web/run": ANSWERED,
    "web/cancel": {"session_hash": "of-the-fuzzer", "fn_index": 0, "event_id": "a"},
    "web/reset": {"event_id": "a"},
    "web/mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": TOOL},
    "web/upload": upload_part(b"RIFF" * 50) + END,
    "web/head": b"GET /config HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.1\r\n"
    b"Accept-Encoding: gzip, br\r\nCookie: a=b; c=d\r\nRange: bytes=0-9\r\n\r\n",
    # Answers without an end, and waits: they must end with their connection.
    "web/progress": b"GET /gradio_api/upload_progress?upload_id=a HTTP/1.1\r\n"
    b"Host: localhost\r\n\r\n",
    "web/heartbeat": b"GET /gradio_api/heartbeat/a HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "web/messages": b"GET /gradio_api/queue/data?session_hash=a HTTP/1.1\r\n"
    b"Host: localhost\r\n\r\n",
    "web/result": b"GET /gradio_api/call/embed_text/a HTTP/1.1\r\nHost: localhost\r\n\r\n",
}
# By what it is to the live socket: a message.
SOCKETS: Final[dict[str, bytes]] = {
    "live/hello": b'{"rate": 48000, "voice": "TF2"}',
    "live/voice": b'{"voice": "SM1"}',
    "live/sound": struct.pack("<I", 4800) + (32_767 * tone(0.02)).astype("<i2").tobytes(),
}


@cache
def seed_file(name: str) -> bytes:
    """The valid file, request, call or message of that name, out of the tables above."""
    if name in FRAMEWORK:
        body = FRAMEWORK[name]
        return body if isinstance(body, bytes) else json.dumps(body).encode()
    if name in SOCKETS:
        return SOCKETS[name]
    if name in REQUESTS:
        return json.dumps(REQUESTS[name]).encode()
    if name in CALLS:
        return json.dumps({"data": CALLS[name]}).encode()
    return {**SOUNDS, **VIDEOS, **DOCUMENTS}[name]()
