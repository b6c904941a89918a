"""Live conversion: any chunks, the same sound; its delay; no seams; voices that change."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.core.errors import InputError
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.systems.voice_conversion import (
    MUTED,
    AnyVoiceConversion,
    Voice,
    settings,
)
from earshot.systems.voice_conversion.live.networks import (
    AnyVoiceNetworks,
    LiveNetworks,
    load_networks,
)
from earshot.systems.voice_conversion.live.process import Choice
from earshot.systems.voice_conversion.live.session import TIMING, LiveConversion
from earshot.systems.voice_conversion.settings import live_checkpoint

HOP_SAMPLES = TIMING.hop * HOP_LENGTH


@pytest.fixture(scope="module", params=["any-voice", "vqvae-512"])
def networks(tiny_checkpoints: Path, request: pytest.FixtureRequest) -> LiveNetworks:
    if request.param == "any-voice":
        return request.getfixturevalue("any_voice")
    return load_networks(tiny_checkpoints / request.param)


@pytest.fixture(scope="module")
def any_voice(tiny_checkpoints: Path) -> LiveNetworks:
    """Not quite untrained, for then all voices are the same."""
    folder = live_checkpoint(tiny_checkpoints)
    networks = AnyVoiceConversion.load(folder, "cpu").networks
    inverter = deepcopy(networks.inverter)
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in inverter.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    random = np.random.default_rng(0)
    voices = {
        name: Voice(name, random.standard_normal(8).astype(np.float32), mean, 0.25)
        for name, mean in (("TF2", 5.3), ("SF1", 4.8))
    }
    changed = replace(networks, inverter=inverter, voices=voices)
    return AnyVoiceNetworks(AnyVoiceConversion(changed, settings.CONTINUOUS))


def speech(seconds: float, gain: float = 0.1) -> np.ndarray:
    """Noise that comes and goes three times a second: (T,)."""
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    noise = np.random.default_rng(0).standard_normal(len(time))
    return (gain * noise * np.sin(np.pi * 3 * time) ** 2).astype(np.float32)


@pytest.mark.parametrize("size", [7, 160, 5000])
def test_push_ignores_size_of_chunks(networks: LiveNetworks, size: int) -> None:
    samples = speech(0.4)
    whole = LiveConversion(networks).push(samples)
    live = LiveConversion(networks)
    chunks = [live.push(samples[i : i + size]) for i in range(0, len(samples), size)]
    np.testing.assert_array_equal(np.concatenate(chunks), whole)


def test_live_timing_is_within_120_ms() -> None:
    assert TIMING.latency == pytest.approx(0.12)


def test_push_gives_samples_of_whole_hops(networks: LiveNetworks) -> None:
    live = LiveConversion(networks)
    assert len(live.push(np.zeros(HOP_SAMPLES - 1, np.float32))) == 0
    assert len(live.push(np.zeros(1, np.float32))) == HOP_SAMPLES
    assert len(live.push(np.zeros(0, np.float32))) == 0


def test_push_speaks_after_stated_delay(
    networks: LiveNetworks,
) -> None:
    """Silence comes before the sound."""
    live = LiveConversion(networks)
    before = 2.0
    sound = np.concatenate([np.zeros(round(before * SAMPLE_RATE), np.float32), speech(1.0)])
    loud = np.flatnonzero(live.push(sound))
    # A unit before the first loud one is not muted, and the gate fades in.
    assert loud[0] / SAMPLE_RATE == pytest.approx(before + live.timing.delay, abs=0.05)


def test_silence_gives_silence_and_muted_units(networks: LiveNetworks) -> None:
    live = LiveConversion(networks)
    assert not live.push(np.zeros(SAMPLE_RATE, np.float32)).any()
    assert set(live.units) == {MUTED}


def test_push_of_any_input_stays_finite(networks: LiveNetworks) -> None:
    live = LiveConversion(networks)
    for sound in (speech(0.5, 1e-6), speech(0.5, 1.0), np.ones(8000), -np.ones(8000)):
        assert np.isfinite(live.push(np.clip(sound, -1, 1).astype(np.float32))).all()


def test_sessions_do_not_disturb_each_other(networks: LiveNetworks) -> None:
    samples, other = speech(0.5), speech(0.5, 0.01)
    alone = LiveConversion(networks).push(samples)
    one, two = LiveConversion(networks), LiveConversion(networks, Choice("SF1"))
    together = []
    for i in range(0, len(samples), 1000):
        together.append(one.push(samples[i : i + 1000]))
        two.push(other[i : i + 1000])
    np.testing.assert_array_equal(np.concatenate(together), alone)


def test_new_voice_begins_with_next_hop(networks: LiveNetworks) -> None:
    samples = speech(1.0)
    half = 5 * HOP_SAMPLES
    same, changed = LiveConversion(networks), LiveConversion(networks)
    np.testing.assert_array_equal(changed.push(samples[:half]), same.push(samples[:half]))
    changed.choice = Choice("SF1")
    assert np.abs(changed.push(samples[half:]) - same.push(samples[half:])).max() > 1e-4


@pytest.mark.parametrize(
    "choice",
    [Choice(other="SF1", share=0.5), Choice(model="units-64"), Choice(intonation="predicted")],
    ids=["blend", "bits", "intonation"],
)
def test_push_depends_on_blend_and_intonation(any_voice: LiveNetworks, choice: Choice) -> None:
    """The rate of the units changes the sound as well."""
    samples = speech(1.0)
    same, changed = LiveConversion(any_voice), LiveConversion(any_voice, choice)
    assert np.abs(changed.push(samples) - same.push(samples)).max() > 1e-4


@pytest.mark.parametrize(
    "choice",
    [
        Choice("X"),
        Choice(model="X"),
        Choice(other="X", share=0.5),
        Choice(other="SF1", share=float("nan")),
    ],
)
def test_check_refuses_unknown_choice(networks: LiveNetworks, choice: Choice) -> None:
    with pytest.raises(InputError):
        networks.check(choice)
