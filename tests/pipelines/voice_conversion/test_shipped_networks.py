"""Golden outputs of the shipped weights, stage by stage, from a waveform of sines.

waveform → states → content → mel → waveform: where a number changes, so does everybody's voice.
Tolerances are shares of each stage's spread: processors differ in the last bits, and a recogniser
of six layers widens that.
"""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from earshot.core.paths import CHECKPOINTS
from earshot.media.constants import SAMPLE_RATE
from earshot.pipelines.voice_conversion import AnyVoiceConversion
from earshot.pipelines.voice_conversion.intonation import Intonation

pytestmark = pytest.mark.slow
TOLERANCE = 0.02


@pytest.fixture(scope="module")
def pipeline() -> AnyVoiceConversion:
    return AnyVoiceConversion.load(CHECKPOINTS / "any-voice", "cpu")


def sines() -> tuple[np.ndarray, np.ndarray]:
    """A second of a gliding buzz whose formants move, and its F0 in Hz every 10 ms."""
    time = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    hz = 130 + 30 * np.sin(4.4 * time)
    phase, formant = 2 * np.pi * np.cumsum(hz) / SAMPLE_RATE, 700 + 400 * np.sin(14.5 * time)
    buzz = sum(np.sin(k * phase) * np.exp(-(((k * hz - formant) / 300) ** 2)) for k in range(1, 20))
    return (0.1 * np.asarray(buzz)).astype(np.float32), hz[:: SAMPLE_RATE // 100]


@torch.inference_mode()
def stages(pipeline: AnyVoiceConversion) -> Iterator[tuple[str, Tensor]]:
    """Each stage with what it makes of the sines: (steps or frames, width)."""
    waveform, hz = sines()
    networks, voice = pipeline.networks, pipeline.voices["TF2"]
    states = networks.recogniser(torch.from_numpy(waveform)[None])[0]
    yield "states", states
    content = networks.adapter(states[None])[0]
    yield "content", content
    contour = torch.from_numpy(Intonation.of(hz).contour(voice.pitch_std))
    mel = networks.invert(content, contour, voice, "continuous")
    yield "mel", mel
    pitch = contour[:, 0] * (contour[:, 1] + voice.pitch_mean).exp()
    waveform = networks.vocode(mel, pitch, "neural")
    yield "waveform", torch.from_numpy(waveform).reshape(len(mel), -1)


def test_shipped_networks_give_their_golden_outputs(pipeline: AnyVoiceConversion) -> None:
    for name, made in stages(pipeline):
        spread = float(made.std())
        assert spread == pytest.approx(SPREADS[name], rel=TOLERANCE), name
        middle = made[len(made) // 2]
        few = middle[:: len(middle) // 8][:8].tolist()
        assert few == pytest.approx(GOLDEN[name], abs=TOLERANCE * spread), name


SPREADS = {"states": 7.52216, "content": 1.00031, "mel": 2.13882, "waveform": 0.10698}
GOLDEN = {
    "states": [5.47032, -0.38377, 6.11177, -6.89392, 0.22007, -0.02064, 0.50054, -0.26927],
    "content": [-1.34927, 0.2408, 1.7346, -0.09255, 0.65537, 0.04831, 0.24162, -0.58102],
    "mel": [-4.77081, -5.54907, -2.33498, -3.34701, -1.54751, -3.94771, -4.5608, -7.34124],
    "waveform": [-0.07115, -0.18668, 0.03932, 0.11319, 0.07763, -0.18329, -0.04807, 0.07459],
}
