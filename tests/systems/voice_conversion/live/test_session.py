"""Live conversion: any chunks, the same sound; its delay; no seams; voices that change."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from earshot.core.errors import InputError
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.pretrained.voice import Correction
from earshot.systems.voice_conversion import (
    MUTED,
    AnyVoiceConversion,
    Voice,
    settings,
)
from earshot.systems.voice_conversion.live.networks import (
    TIMINGS,
    AnyVoiceNetworks,
    LiveNetworks,
    Timing,
    load_networks,
)
from earshot.systems.voice_conversion.live.process import Choice
from earshot.systems.voice_conversion.live.session import MAX_PATIENCE, LiveConversion, Pace
from earshot.systems.voice_conversion.settings import live_checkpoint

HOP_SAMPLES = 8 * HOP_LENGTH  # whole hops of all networks


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
    """The first; the others are later, on a machine that cannot do more, and see as far ahead."""
    assert [round(timing.latency, 2) for timing in TIMINGS] == [0.12, 0.14, 0.16, 0.24, 0.48]
    assert len({timing.ahead for timing in TIMINGS}) == 1
    costs = [timing.cost for timing in TIMINGS]
    assert costs == sorted(costs, reverse=True)


def test_push_gives_samples_of_whole_hops(networks: LiveNetworks) -> None:
    live = LiveConversion(networks)
    hop = live.timing.hop * HOP_LENGTH
    assert len(live.push(np.zeros(hop - 1, np.float32))) == 0
    assert len(live.push(np.zeros(1, np.float32))) == hop
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


@pytest.mark.parametrize("other", [*TIMINGS[1:], Timing(8, 2), Timing(16, 2)])
def test_timing_that_changes_leaves_out_no_sound(any_voice: LiveNetworks, other: Timing) -> None:
    """What another timing sees less far ahead is spoken at once, and waited for afterwards."""
    live, hop = LiveConversion(any_voice), other.hop * HOP_LENGTH
    before = np.zeros(4 * hop, np.float32)
    sound = np.append(before, speech(4 * hop / SAMPLE_RATE))
    counts = []
    for number, timing in enumerate((TIMINGS[0], other, other, TIMINGS[0])):
        live.timing = timing
        counts.append(len(live.push(sound[2 * number * hop :][: 2 * hop])))
    earlier = (TIMINGS[0].ahead - other.ahead) * HOP_LENGTH
    assert counts == [2 * hop, 2 * hop + earlier, 2 * hop, 2 * hop - earlier]


def test_correction_of_reference_voice_is_live_what_it_is_in_recordings(
    any_voice: LiveNetworks,
) -> None:
    """Of the same content, for what a hop sees is short of the whole."""
    content = any_voice.silence[None] + torch.randn(
        30, len(any_voice.silence), generator=torch.Generator().manual_seed(0)
    )
    rows = content.numpy()[:4]
    error = np.full((4, 80), 0.7, np.float32)
    voice = Voice("a", np.linspace(-1.7, 1.7, 8, dtype=np.float32), 5.0, 0.2)
    corrected = replace(voice, corrections=((1.0, Correction(rows, error, -20.0)),))
    plain, mended = (
        any_voice.invert(content, None, Choice(each), 20)[0] for each in (voice, corrected)
    )
    torch.testing.assert_close(mended - plain, torch.full_like(plain, 0.7), atol=0.01, rtol=0)
    samples = speech(1.0)
    spoken = [LiveConversion(any_voice, Choice(each)).push(samples) for each in (voice, corrected)]
    assert np.abs(spoken[0] - spoken[1]).max() > 1e-4


def test_last_frames_are_those_of_all(any_voice: LiveNetworks) -> None:
    content = torch.randn(40, len(any_voice.silence), generator=torch.Generator().manual_seed(0))
    every, pitch = any_voice.invert(content, None, Choice(), 80)
    some, some_pitch = any_voice.invert(content, None, Choice(), 20)
    assert len(some) < len(every) == 80
    torch.testing.assert_close(some[-20:], every[-20:], atol=1e-4, rtol=0)
    torch.testing.assert_close(some_pitch, pitch[-len(some) :])


def run(pace: Pace, share: float, seconds: float) -> None:
    """Take a share of the time of every hop, at the best; at others, less."""
    for _ in range(round(seconds / 0.08)):
        cost = TIMINGS[pace.level].cost
        pace(0.08 * share * cost, 0.08)


def test_pace_gives_way_to_load_and_comes_back() -> None:
    pace = Pace(TIMINGS)
    run(pace, 0.6, 10)
    assert pace.level == 0
    run(pace, 2.0, 2)
    assert TIMINGS[pace.level].cost * 2 < 0.75
    run(pace, 0.5, 20)
    assert pace.level == 0


def test_pace_gives_way_before_sound_is_left_out() -> None:
    pace, behind = Pace(TIMINGS), 0.0
    for _ in range(50):
        behind = max(0.0, behind + 0.08 * 2.4 * TIMINGS[pace.level].cost - 0.08)
        pace(0.08 * 2.4 * TIMINGS[pace.level].cost, 0.08)
        assert behind < 0.4  # MAX_BACKLOG


def test_pace_forgives_one_long_hop() -> None:
    """As where the machine did something else for a moment: less computed would not have helped."""
    pace = Pace(TIMINGS)
    for stall in range(10):
        run(pace, 0.7, 3)
        pace(0.3, 0.08)
        assert pace.level == 0, stall


def test_pace_does_not_swing() -> None:
    """Where the better one is too much as soon as it is tried, it is tried ever more rarely."""
    pace, changes = Pace(TIMINGS), 0
    for _ in range(3750):  # 5 min
        level = pace.level
        share = 0.9 if level == 0 else 0.3  # of the time, as measured
        pace(0.08 * share, 0.08)
        changes += level != pace.level
    assert changes < 2 * 300 / MAX_PATIENCE + 10


def test_one_long_hop_does_not_bring_the_last_timing() -> None:
    pace = Pace(TIMINGS)
    run(pace, 0.5, 3)
    pace(0.4, 0.08)
    assert 0 < pace.level < 3
    run(pace, 0.5, 20)
    assert pace.level == 0
