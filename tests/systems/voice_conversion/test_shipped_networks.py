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
from earshot.systems.voice_conversion import AnyVoiceConversion
from earshot.systems.voice_conversion.units import Intonation

pytestmark = pytest.mark.slow
TOLERANCE = 0.02


@pytest.fixture(scope="module")
def converter() -> AnyVoiceConversion:
    return AnyVoiceConversion.load(CHECKPOINTS / "any-voice", "cpu")


def sines() -> tuple[np.ndarray, np.ndarray]:
    """A second of a gliding buzz whose formants move, and its F0 in Hz every 10 ms."""
    time = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    hz = 130 + 30 * np.sin(4.4 * time)
    phase, formant = 2 * np.pi * np.cumsum(hz) / SAMPLE_RATE, 700 + 400 * np.sin(14.5 * time)
    buzz = sum(np.sin(k * phase) * np.exp(-(((k * hz - formant) / 300) ** 2)) for k in range(1, 20))
    return (0.1 * np.asarray(buzz)).astype(np.float32), hz[:: SAMPLE_RATE // 100]


@torch.inference_mode()
def stages(converter: AnyVoiceConversion) -> Iterator[tuple[str, Tensor]]:
    """Each stage with what it makes of the sines: (steps or frames, width)."""
    waveform, hz = sines()
    networks, voice = converter.networks, converter.voices["TF2"]
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


def test_shipped_networks_give_their_golden_outputs(converter: AnyVoiceConversion) -> None:
    for name, output in stages(converter):
        spread = float(output.std())
        assert spread == pytest.approx(SPREADS[name], rel=TOLERANCE), name
        middle = output[len(output) // 2]
        few = middle[:: len(middle) // 8][:8].tolist()
        assert few == pytest.approx(GOLDEN[name], abs=TOLERANCE * spread), name


SPREADS = {"states": 7.41415, "content": 1.00031, "mel": 2.18221, "waveform": 0.09297}
GOLDEN = {
    "states": [3.68546, 0.75911, 4.09678, -8.78272, 0.13555, -0.14654, 0.6111, -0.24963],
    "content": [0.79685, 0.18059, 0.93335, 0.26545, 0.78408, -0.13545, 0.62826, -0.5595],
    "mel": [-4.85085, -5.8885, -2.19046, -3.31362, -1.87933, -4.05827, -5.07397, -5.96355],
    "waveform": [-0.06384, -0.19461, 0.01315, 0.06917, 0.01268, -0.16799, -0.02773, 0.09296],
}
