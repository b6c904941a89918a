"""Videos for tests, written as cameras write them."""

import struct
from collections.abc import Iterable
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any, Final

import av
import numpy as np
import yaml

from earshot.study.design import DESIGNS

RATE = 48_000  # Hz
PARTS = {".y4m": "wrapped_avframe", ".webm": "libvpx", ".mp4": "libx264"}


def write_pictures(path: Path, pictures: Iterable[np.ndarray], rate: int = 25) -> Path:
    """Write pictures (H, W, 3) uint8 as a video without sound; as .y4m, for a browser's fake
    camera."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(PARTS[path.suffix], rate=rate)
        assert isinstance(stream, av.VideoStream)
        stream.bit_rate = 2_000_000
        if path.suffix == ".mp4":
            stream.options = {"preset": "veryfast"}
        first = next(pictures := iter(pictures))
        stream.height, stream.width = first.shape[:2]
        stream.pix_fmt = "yuv420p"
        for picture in chain([first], pictures):
            frame = av.VideoFrame.from_ndarray(picture, "rgb24").reformat(format="yuv420p")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def moving_pattern(frames: int, size: tuple[int, int] = (160, 120), seed: int = 0) -> np.ndarray:
    """Make pictures (frames, H, W, 3), uint8, of noise that moves to the right, each with its
    number in white blocks at the top: one for each bit, the lowest at the left."""
    width, height = size
    noise = np.random.default_rng(seed).integers(40, 200, (height // 8, width // 8, 3))
    ground = noise.repeat(8, axis=0).repeat(8, axis=1).astype(np.uint8)
    pictures = np.stack([np.roll(ground, 2 * k, axis=1) for k in range(frames)])
    block = width // 10
    for k, picture in enumerate(pictures):
        for bit in range(10):
            picture[: height // 6, bit * block : (bit + 1) * block] = 255 * (k >> bit & 1)
    return pictures


def write_clip(
    path: Path,
    pictures: np.ndarray | None = None,
    frequency: float = 220.0,
    *,
    times: Iterable[float] | None = None,
    codec: str | None = None,
    pixels: str = "yuv420p",
    seconds: float | None = None,
) -> Path:
    """Write a video of pictures (N, H, W, 3) with a tone, as MP4 (H.264, AAC) or WebM (VP9, Opus).

    times: when each picture is shown, in s; 25 a second without. frequency: of the tone in Hz, 0
    for no sound track; seconds: of it. pictures: None for a sound track alone.
    """
    mp4 = path.suffix in (".mp4", ".mov", ".m4v")
    path.parent.mkdir(parents=True, exist_ok=True)
    moments = [] if pictures is None else [k / 25 for k in range(len(pictures))]
    moments = list(times) if times is not None else moments
    seconds = seconds or moments[-1] + 1 / 25
    with av.open(str(path), "w") as container:
        container.metadata["title"] = "the better system"
        packets = []
        if pictures is not None:
            video = container.add_stream(codec or ("libx264" if mp4 else "libvpx-vp9"), rate=25)
            assert isinstance(video, av.VideoStream)
            video.height, video.width = pictures.shape[1:3]
            video.pix_fmt, video.bit_rate = pixels, 400_000
            video.codec_context.time_base = Fraction(1, 1000)
            video.thread_count = 1  # the same bits again, and no thread that looks ahead
            video.options = {"rc-lookahead": "0"}
            for picture, time in zip(pictures, moments, strict=True):
                frame = av.VideoFrame.from_ndarray(picture, "rgb24").reformat(format=pixels)
                frame.pts, frame.time_base = round(1000 * time), Fraction(1, 1000)
                packets += video.encode(frame)
            packets += video.encode()
        if frequency:
            audio = container.add_stream("aac" if mp4 else "libopus", rate=RATE, layout="mono")
            tone = 0.2 * np.sin(2 * np.pi * frequency * np.arange(round(seconds * RATE)) / RATE)
            samples = np.round(32767 * tone).astype(np.int16)[None]
            sound = av.AudioFrame.from_ndarray(samples, "s16", "mono")
            sound.sample_rate, sound.pts = RATE, 0
            packets += [*audio.encode(sound), *audio.encode()]
        container.mux(packets)
    return path


QUARTER: Final = (0, 1, -1, 0)


def turned(mp4: bytes, matrix: tuple[int, int, int, int] = QUARTER) -> bytes:
    """Turn the picture of an MP4 by a quarter, as a phone that is held upright does: by a note.

    matrix: another (a, b, c, d), by which (x, y) is shown at (ax + cy, bx + dy).
    """
    one = 0x10000
    upright, aside = (
        struct.pack(">9i", a * one, b * one, 0, c * one, d * one, 0, 0, 0, one << 14)
        for a, b, c, d in ((1, 0, 0, 1), matrix)
    )
    head = mp4.index(upright, mp4.index(b"tkhd"))
    return mp4[:head] + aside + mp4[head + len(aside) :]


def write_video_test(
    folder: Path, design: str, shared: bool, frames: int = 20, **more: Any
) -> Path:
    """Write a test of the systems fine and rough with stimuli bird and cat, of videos: with one
    picture and another sound, or with pictures of their own. more: of its YAML."""
    names = ["fine", "rough", *["reference"] * DESIGNS[design].referenced]
    for number, stimulus in enumerate(("bird", "cat")):
        for k, system in enumerate(names):
            seed = number if shared else 10 * number + k
            pictures = moving_pattern(frames, seed=seed)
            write_clip(folder / system / f"{stimulus}.mp4", pictures, 220.0 * (k + 1))
    spec = {
        "title": "Which lips fit?",
        "design": design,
        "systems": {name: f"{name}/*.mp4" for name in names[:2]},
        "consent": "Taking part is voluntary.",
        **({"reference": "reference/*.mp4"} if len(names) > 2 else {}),
    }
    (folder / "test.yaml").write_text(yaml.safe_dump(spec | more, sort_keys=False))
    return folder
