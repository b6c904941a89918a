"""Render a video of a synthetic head that speaks a sentence, and write it."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Final

import av
import numpy as np
from scipy.ndimage import gaussian_filter1d

from earshot.media.audio.load import to_int16
from earshot.media.constants import SAMPLE_RATE
from earshot.media.video import Frame
from synthetic.heads.canvas import HEIGHT, WIDTH
from synthetic.heads.face import Bearing, Head
from synthetic.heads.mouth import Pose, poses
from synthetic.heads.speaker import Speaker
from synthetic.heads.speech import align, speak

RATE: Final = 25  # frames per second
BLINK: Final = 0.09  # s from open to closed
BLINK_INTERVAL: Final = (1.2, 3.0)  # s between blinks, from and to
BITRATE: Final = 48_000  # bit/s of the audio track
CRF: Final = "23"  # x264's constant rate factor


@dataclass(frozen=True, eq=False)
class RenderedVideo:
    """A rendered video. waveform (T,) at SAMPLE_RATE; mouth pose and head bearing of each frame;
    rate: frames per second.
    """

    speaker: Speaker
    waveform: np.ndarray
    poses: list[Pose]
    bearings: list[Bearing]
    rate: int

    def frames(self, start: int = 0, stop: int | None = None) -> Iterator[Frame]:
        """Yield frames, uint8 RGB (HEIGHT, WIDTH, 3), rendered one at a time."""
        moves = list(zip(self.poses, self.bearings, strict=True))[start:stop]
        for number, (pose, bearing) in enumerate(moves):
            yield Frame(number / self.rate, self._head.render(pose, bearing))

    @cached_property
    def _head(self) -> Head:
        return Head(self.speaker)


def render(speaker: Speaker, sentence: str, seed: int = 0, rate: int = RATE) -> RenderedVideo:
    """Render a speaker of a sentence of the GRID grammar.

    seed: of head movement and blinks; rate: frames per second. Raises KeyError for a word outside
    the grammar.
    """
    waveform = speak(speaker, sentence)
    times = np.arange(len(waveform) * rate // SAMPLE_RATE) / rate
    bearings = _bearings(len(waveform) / SAMPLE_RATE, times, np.random.default_rng(seed))
    return RenderedVideo(speaker, waveform, poses(align(waveform, sentence), times), bearings, rate)


def write(path: Path, video: RenderedVideo) -> None:
    """Write MP4 with audio, or, for a browser's fake camera, Y4M: by the suffix of the path."""
    with av.open(str(path), "w") as container:
        silent = path.suffix == ".y4m"
        stream = container.add_stream("wrapped_avframe" if silent else "libx264", rate=video.rate)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        if not silent:
            stream.options = {"crf": CRF, "preset": "slow"}
            audio = container.add_stream("aac", rate=SAMPLE_RATE, layout="mono")
            audio.bit_rate = BITRATE
            samples = av.AudioFrame.from_ndarray(to_int16(video.waveform)[None], "s16", "mono")
            samples.sample_rate, samples.time_base = SAMPLE_RATE, Fraction(1, SAMPLE_RATE)
            samples.pts = 0
            container.mux([*audio.encode(samples), *audio.encode()])
        for number, (_, image) in enumerate(video.frames()):
            frame = av.VideoFrame.from_ndarray(image, "rgb24").reformat(format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, video.rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def _bearings(seconds: float, times: np.ndarray, rng: np.random.Generator) -> list[Bearing]:
    """Draw a slow drift of the head and eyes, and blinks, sampled at RATE whatever the times
    are.
    """
    grid = np.arange(int(seconds * RATE)) / RATE

    def wander(size: float, seconds: float) -> np.ndarray:
        steps = gaussian_filter1d(rng.standard_normal(len(grid) + 100), seconds * RATE)[50:-50]
        return size * steps / steps.std()

    closed, blink = np.zeros_like(grid), rng.uniform(0.2, BLINK_INTERVAL[1])
    while blink < grid[-1]:
        closed = np.maximum(closed, np.clip(1.4 - np.abs(grid - blink) / BLINK, 0, 1))
        blink += rng.uniform(*BLINK_INTERVAL)
    shift = wander(0.03, 0.5) + 1j * wander(0.03, 0.4)
    gaze = wander(0.012, 0.2) + 1j * wander(0.006, 0.2)
    turn, nod, roll = wander(0.05, 0.4), wander(0.03, 0.3), wander(0.015, 0.5)
    moves = (np.interp(times, grid, each) for each in (closed, gaze, turn, nod, roll, shift))
    return [Bearing(*(each.item() for each in move)) for move in zip(*moves, strict=True)]
