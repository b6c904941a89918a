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


SPREADS = {"states": 7.52216, "content": 1.00031, "mel": 2.17711, "waveform": 0.09089}
GOLDEN = {
    "states": [5.47032, -0.38378, 6.11176, -6.89392, 0.22007, -0.02064, 0.50054, -0.26927],
    "content": [1.0469, 0.23493, 1.44639, -0.24461, -0.10488, 0.02275, 0.95232, -0.62854],
    "mel": [-4.76508, -6.0054, -2.2051, -3.27037, -2.07119, -4.14847, -4.84168, -6.02829],
    "waveform": [-0.03043, -0.19539, 0.00453, 0.05509, -0.00948, -0.18616, -0.00373, 0.09219],
}
