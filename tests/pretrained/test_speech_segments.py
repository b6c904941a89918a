"""Speech by two detectors: bounds of ours, where Silero's finds speech."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.core.paths import ASSETS
from earshot.media.audio import voice_activity
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.models.speech_detector import FRAME, SpeechDetector
from earshot.pretrained import speech_segments
from earshot.pretrained.checkpoint import CheckpointError
from earshot.pretrained.wheels import installed_file


@pytest.fixture(scope="module")
def waveform() -> np.ndarray:
    """Load a man who counts, with pauses."""
    return load(ASSETS / "examples" / "scot-digits.ogg", SAMPLE_RATE).waveform


def _weights() -> Path:
    own = speech_segments
    return installed_file(own.PACKAGE, own.VERSION, own.FILE, own.SHA256, own.MISSING)


def keys() -> np.ndarray:
    """Make the sound of someone who types: bursts of 30 ms whose pitch glides."""
    rng, time = np.random.default_rng(1), np.arange(480) / SAMPLE_RATE
    sound = 1e-4 * rng.standard_normal(3 * SAMPLE_RATE)
    for start in rng.integers(0, len(sound) - 480, 24):
        hz = rng.uniform(150, 350) * (1 + time)
        burst = sum(np.sin(2 * np.pi * k * hz * time) / k for k in range(1, 9))
        sound[start : start + 480] += 0.2 * burst * np.hanning(480)
    return sound.astype(np.float32)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_network_equals_sileros_frame_by_frame(waveform: np.ndarray) -> None:
    """The wheel's TorchScript has the same network, trained later; it takes a frame at a time."""
    theirs = torch.jit.load(str(_weights().with_name("silero_vad.jit"))).eval()
    weights = theirs.state_dict()
    names = {"stft_conv.weight": "stft.forward_basis_buffer"}
    for kind in ("weight", "bias"):
        names |= {f"conv{n}.{kind}": f"encoder.{n - 1}.reparam_conv.{kind}" for n in range(1, 5)}
        names |= {f"lstm.{kind}_{of}_l0": f"decoder.rnn.{kind}_{of}" for of in ("ih", "hh")}
        names[f"final_conv.{kind}"] = f"decoder.decoder.2.{kind}"
    ours = SpeechDetector()
    ours.load_state_dict({name: weights[f"_model.{other}"] for name, other in names.items()})
    levelled = torch.from_numpy(voice_activity.levelled(waveform))[: 60 * FRAME]
    with torch.inference_mode():
        expected = [theirs(part[None], SAMPLE_RATE)[0, 0] for part in levelled.split(FRAME)]
    torch.testing.assert_close(ours(levelled), torch.stack(expected), atol=1e-4, rtol=0)


@pytest.mark.parametrize("gain", [0, -30, -40, -50])
def test_quiet_speech_keeps_our_bounds(waveform: np.ndarray, gain: int) -> None:
    """EnviousWispr#964, snakers4/silero-vad#372: quiet speech was thrown away."""
    quiet = waveform * np.float32(10 ** (gain / 20))
    both, ours = speech_segments.speech_segments(quiet), voice_activity.words(waveform)
    assert len(both) == len(ours) > 0
    np.testing.assert_allclose(both, ours, atol=0.05)


def test_keys_are_no_words_any_more() -> None:
    assert voice_activity.words(keys())
    assert speech_segments.speech_segments(keys()) == []


@pytest.mark.parametrize(
    "sound",
    [lambda: 0.1 * np.random.default_rng(0).standard_normal(32_000), lambda: np.zeros(9000)],
    ids=["noise", "silence"],
)
def test_noise_and_silence_hold_no_speech(sound: Callable[[], np.ndarray]) -> None:
    assert speech_segments.speech_segments(sound().astype(np.float32)) == []


def test_bounds_are_ours_where_other_finds() -> None:
    """A long one ends a little beyond what the other detector finds."""
    ours = [(0.0, 1.0), (2.0, 6.0), (7.0, 8.0)]
    assert speech_segments.common(ours, [(0.1, 0.9), (3.0, 4.0)]) == [(0.0, 1.0), (2.8, 4.2)]
    assert speech_segments.common(ours, [(2.0, 3.0), (3.5, 6.0)]) == [(2.0, 6.0)]
    assert speech_segments.common([(1.0, 1.05), (2.0, 3.0)], []) == [(1.0, 1.05)]
    assert speech_segments.common([], [(0, 9)]) == speech_segments.common(ours, []) == []


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """So is a wheel that is not installed."""
    monkeypatch.setattr(speech_segments, "SHA256", "0")
    with pytest.raises(CheckpointError, match="Install it again"):
        speech_segments.load_detector.__wrapped__()
    monkeypatch.setattr(speech_segments, "PACKAGE", "no_such_package")
    with pytest.raises(FileNotFoundError, match="pip install"):
        speech_segments.load_detector.__wrapped__()
