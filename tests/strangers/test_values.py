"""Other programs' values: arrays and integers of any library, levels, channels, environments."""

import base64
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.app.launch import spare_own_address
from earshot.core.errors import InputError
from earshot.media.audio.load import load, loudness, match_loudness, wav_bytes
from earshot.media.audio.voice_activity import words
from earshot.pretrained.accelerator import choose_device
from earshot.tabs.shared import tool_server

RATE = 16_000
WAVE = (np.sin(np.arange(2 * RATE) / 7) / 3).astype(np.float32)
PAIR = np.stack([WAVE, WAVE])


@pytest.mark.parametrize(
    "source",
    [
        (WAVE, RATE),
        (RATE, WAVE[None]),
        (RATE, PAIR),
        (PAIR.T, RATE),
        (torch.from_numpy(PAIR).requires_grad_(), RATE),
        (torch.from_numpy(WAVE).bfloat16(), RATE),
        [RATE, WAVE],
        (WAVE.tolist(), float(RATE)),
        (np.int64(RATE), WAVE.astype(np.float64)),
    ],
    ids=lambda source: type(source).__name__,
)
def test_samples_of_other_libraries_are_taken(source: tuple) -> None:
    """gradio-app/gradio#6578, kitzeslab/opensoundscape#177: (samples, rate) and (channels, T)."""
    recording = load(source)
    assert recording.seconds == 2
    assert np.abs(recording.waveform).max() == pytest.approx(1 / 3, abs=0.01)


@pytest.mark.parametrize(
    "source",
    [WAVE, (WAVE,), (WAVE, WAVE), (RATE, 3), (RATE, [[1, 2], [3]]), (RATE, np.zeros((1, 2, 9))), 3]
    + [(RATE, WAVE.astype(complex))],
    ids=range(8),
)
def test_refusal_says_which_order_is_wanted(source: object) -> None:
    """csteinmetz1/pyloudnorm#25: an error from deep within."""
    with pytest.raises(InputError, match=r"\(sample_rate, samples\)"):
        load(source)  # pyrefly: ignore[bad-argument-type]


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64, np.uint64])
def test_integers_are_scaled_by_their_values(dtype: type) -> None:
    """bastibe/python-soundfile#275: 16-bit values in 64 bits were called silent."""
    values = np.round(10_000 * np.abs(np.sin(np.arange(2 * RATE) / 7))).astype(dtype)
    waveform = load((RATE, values)).waveform
    assert np.ptp(waveform) == pytest.approx(10_000 / 2**15, abs=0.02)


@pytest.mark.parametrize("other", [1.0, 0.5, 0.4])
def test_channels_that_cancel_are_not_mixed(other: float) -> None:
    """m-bain/whisperX#750, pytorch/audio#877: 5 s of silence, returned as a success."""
    recording = load((RATE, np.stack([WAVE, -other * WAVE], axis=1)))
    assert np.abs(recording.waveform).max() == pytest.approx(1 / 3, abs=0.01)
    assert len(recording.notices) == 1 and "cancel" in recording.notices[0]


def test_channels_not_cancelling_are_mixed() -> None:
    noise = np.random.default_rng(0).standard_normal((2 * RATE, 6)) / 10
    for samples in (noise, np.stack([WAVE, -0.1 * WAVE, 0 * WAVE], axis=1)):
        recording = load((RATE, samples))
        assert recording.notices == ()
        mean = samples[:, samples.any(axis=0)].mean(axis=1)
        assert np.std(recording.waveform) == pytest.approx(np.std(mean), rel=0.01)


def test_loudness_leaves_low_frequencies_out() -> None:
    """audiolabs/webMUSHRA#62: “Audio must have five channels or less.”"""
    surround = np.zeros((len(WAVE), 6), np.float32)
    surround[:, 3] = WAVE
    assert loudness(surround, RATE) == -math.inf
    surround[:, 0] = WAVE / 4
    assert loudness(surround, RATE) == pytest.approx(loudness(WAVE / 4, RATE), abs=0.01)


@pytest.mark.parametrize("gain", [-10, -20, -30, -40])
def test_quiet_loudness_falls_with_level(gain: int) -> None:
    """RVC-Project/Retrieval-based-Voice-Conversion-WebUI#956: levels were lost on the way."""
    fading = WAVE * np.geomspace(1, 0.01, len(WAVE))
    quiet = fading * 10 ** (gain / 20)
    assert loudness(quiet, RATE) == pytest.approx(loudness(fading, RATE) + gain, abs=0.3)
    level = loudness(fading, RATE)
    np.testing.assert_allclose(
        match_loudness(quiet, RATE, level, peak=0), fading, rtol=0.05, atol=1e-3
    )


def test_float_above_full_scale_is_loud() -> None:
    """audacity/audacity#5940: “it was too loud, and may sound distorted”, which it did not."""
    loud = load((RATE, 6 * WAVE))
    assert loud.notices == ()
    np.testing.assert_allclose(loud.waveform, load((RATE, 3 * WAVE)).waveform, atol=1e-4)
    clipped = load((RATE, 2 * np.clip(6 * WAVE, -1, 1)))
    assert "clipped" in clipped.notices[0]
    # Integers as floats: 1 is nearly silence there, and often held.
    assert load((RATE, np.round(np.linspace(0, 32_767, len(WAVE)) * WAVE))).notices == ()


def glide() -> np.ndarray:
    """Something like a voice: harmonics whose pitch and formants move, in a little noise."""
    time = np.arange(RATE) / RATE
    phase = 2 * np.pi * np.cumsum(120 + 40 * np.sin(7 * time)) / RATE
    voice = sum(
        np.cos(k * phase) * np.exp(-(((120 * k - 900 - 600 * np.sin(9 * time)) / 500) ** 2))
        for k in range(1, 25)
    )
    sound = np.concatenate([np.zeros(RATE // 2), voice, np.zeros(RATE // 2)])
    return (0.1 * sound + 1e-4 * np.random.default_rng(0).standard_normal(len(sound))).astype("f4")


@pytest.mark.parametrize("gain", [0, 10, -20, -30, -40, -50])
def test_speech_is_found_at_any_level(gain: int) -> None:
    """EnviousWispr#964, snakers4/silero-vad#372: at -30 dB it ended early, at -40 it was music."""
    [expected] = words(glide())
    [segment] = words(glide() * np.float32(10 ** (gain / 20)))
    assert segment == pytest.approx(expected, abs=0.011)
    assert segment == pytest.approx((0.5, 1.5), abs=0.1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="There is a GPU here.")
def test_missing_gpu_is_said() -> None:
    """CorentinJ/Real-Time-Voice-Cloning#101: AssertionError, not compiled with CUDA enabled."""
    with pytest.raises(InputError, match="no GPU"):
        choose_device("cuda")


@pytest.mark.parametrize("before", ["", "intranet"])
def test_proxy_is_not_asked_for_localhost(before: str) -> None:
    """gradio-app/gradio#4046: behind HTTP_PROXY the app ended as it started."""
    environment = {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": before}
    spare_own_address(environment, "192.0.2.1")
    assert set(environment["NO_PROXY"].split(",")) >= {"localhost", "127.0.0.1", "192.0.2.1"}
    assert (before in environment["NO_PROXY"].split(",")) == bool(before)


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_recording_in_either_base64_is_read(
    encode: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """ninjatronic/angular-base64#7: base64url lost its - and _, and became noise."""
    content = wav_bytes(WAVE, RATE)
    inbox = tool_server._inbox.set(str(tmp_path))
    try:
        file = tool_server._file(f"data:audio/wav;base64,{encode(content).decode()}")
        with pytest.raises(InputError, match="data:"):
            tool_server._file("data:audio/wav;base64,no!")
    finally:
        tool_server._inbox.reset(inbox)
    assert Path(file["path"]).read_bytes() == content
