"""Voice conversion of a stream, a hop at a time, by the networks that convert recordings.

Each hop passes a window through the encoder and the inverter: what was heard, the frames to speak,
and AHEAD frames that they are spoken in the light of. Only the vocoder carries on from hop to hop.
Networks that are causal can take the place of the windows; ``push`` stays.
"""

from typing import Final

import numpy as np
import torch

from media.audio import features
from media.constants import FRAME_SECONDS, HOP_LENGTH, SAMPLE_RATE
from pipelines.voice_conversion.live.running import RunningLevel, RunningMean
from pipelines.voice_conversion.live.vocoder import BEHIND, StreamingVocoder
from pipelines.voice_conversion.pipeline import VoiceConversion
from pipelines.voice_conversion.settings import DEFAULT_VOICE, MUTED
from pipelines.voice_conversion.waveforms import GATE, LEVEL

HOP: Final = 8  # frames that are spoken at once
AHEAD: Final = 14  # frames after them that the networks see
WINDOW: Final = 100  # frames that the encoder sees
INVERTED: Final = 60  # frames that the inverter sees, the last of the window
HOP_SAMPLES: Final = HOP * HOP_LENGTH
FADE: Final = round(0.005 * SAMPLE_RATE)  # samples, at the edges of silence


class LiveConversion:
    """The state of one stream; the networks are shared. Knows no clock, and does no I/O.

    voice: a name of VoiceConversion.VOICES, which may change at any time; units: those spoken in
    the last push, MUTED for silence.
    """

    delay: Final = (AHEAD + BEHIND) * FRAME_SECONDS  # seconds between a sound and its conversion
    latency: Final = delay + HOP * FRAME_SECONDS  # the same, with the wait until a hop is full

    def __init__(self, pipeline: VoiceConversion, voice: str = DEFAULT_VOICE) -> None:
        self.voice = voice
        self.units: list[int] = []
        self._pipeline = pipeline
        self._stride = pipeline.vqvae.config.stride
        self._vocoder = StreamingVocoder(pipeline.vocoder)
        self._level = RunningLevel(LEVEL)
        self._mean = RunningMean(pipeline.vqvae)
        self._waiting = np.zeros(0, np.float32)
        self._window = np.zeros(WINDOW * HOP_LENGTH, np.float32)
        self._frames = 0  # of the window that were heard, and are not the silence before
        self._codes = [pipeline.silence] * ((INVERTED - AHEAD) // self._stride)
        self._gains = np.zeros(BEHIND * HOP_LENGTH + FADE)

    @torch.inference_mode()
    def push(self, samples: np.ndarray) -> np.ndarray:
        """The next samples heard (T,), at SAMPLE_RATE and of any number → those to be played.

        As many come back as have gone in, in whole hops; each says what went in ``delay`` before.
        """
        self.units = []
        self._waiting = np.append(self._waiting, samples.astype(np.float32, copy=False))
        spoken = [np.zeros(0, np.float32)]
        while len(self._waiting) >= HOP_SAMPLES:
            spoken.append(self._step(self._waiting[:HOP_SAMPLES]))
            self._waiting = self._waiting[HOP_SAMPLES:]
        return np.concatenate(spoken)

    def _step(self, samples: np.ndarray) -> np.ndarray:
        """HOP_SAMPLES heard → HOP_SAMPLES spoken."""
        self._window = np.append(self._window[HOP_SAMPLES:], self._level(samples))
        self._frames = min(self._frames + HOP, WINDOW)
        codes = self._encode()
        new = HOP // self._stride
        self._codes = [*self._codes[new:], *codes[:new]]
        muted = self._muted()
        self.units += np.where(muted, MUTED, codes[:new]).tolist()
        known = torch.tensor([*self._codes, *codes[new:]])
        vectors = self._pipeline.vqvae.codebook.vectors[known]
        log_mel, pitch = self._pipeline.invert(vectors, self.voice)
        spoken = self._vocoder.speak(log_mel, pitch, INVERTED - AHEAD - HOP, HOP)
        return spoken.numpy() * self._gate(muted)

    def _encode(self) -> list[int]:
        """The units of the frames to speak and of those ahead."""
        vqvae = self._pipeline.vqvae
        heard = torch.from_numpy(features.mfcc(self._window)[WINDOW - self._frames :])
        leaving = max(self._frames + HOP - WINDOW, 0)
        codes = vqvae.encode(self._mean(heard, leaving)[None])[0].tolist()
        wanted = (HOP + AHEAD) // self._stride
        return ([self._pipeline.silence] * wanted + codes)[-wanted:]

    def _muted(self) -> np.ndarray:
        """Whether each unit to speak and its neighbours are under the gate: (HOP / stride,)."""
        size = self._stride * HOP_LENGTH
        power = np.square(self._window.reshape(-1, size)).mean(axis=1)
        first = (WINDOW - AHEAD - HOP) // self._stride
        around = [power[first + k :][: HOP // self._stride] for k in (-1, 0, 1)]
        return np.max(around, axis=0) < 10 ** (GATE / 10)

    def _gate(self, muted: np.ndarray) -> np.ndarray:
        """Gain of the samples to be played, BEHIND frames late, fading at the edges of silence."""
        wanted = np.repeat(1 - muted, self._stride * HOP_LENGTH)
        steps = np.append(self._gains, wanted)
        self._gains = steps[HOP_SAMPLES:]
        smooth = np.convolve(steps, np.full(FADE, 1 / FADE), mode="valid")
        return smooth[:HOP_SAMPLES].astype(np.float32)
