"""Live sessions at a device's rate, and in a process of their own."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.media.workers.processes import WorkerError
from earshot.pretrained.voice import Correction, Voice
from earshot.systems.voice_conversion.live.networks import TIMINGS, LiveNetworks, load_networks
from earshot.systems.voice_conversion.live.process import Choice, LiveProcess, LiveProcesses
from earshot.systems.voice_conversion.live.session import LiveSession

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def networks(tiny_checkpoints: Path) -> LiveNetworks:
    return load_networks(tiny_checkpoints / "any-voice")


@pytest.fixture(scope="module")
def process(tiny_checkpoints: Path) -> Iterator[LiveProcess]:
    started = LiveProcess(tiny_checkpoints / "any-voice")
    started.wait_until_ready()
    yield started
    started.close()


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_session_lags_by_conversion_and_resamplers(networks: LiveNetworks, rate: int) -> None:
    session = LiveSession(networks, rate, Choice(), clock=lambda: 0.0)
    chunks = [session.push(np.zeros(rate // 50, np.float32)) for _ in range(100)]
    behind = [chunk.behind / rate for chunk in chunks]
    assert min(behind) >= TIMINGS[0].delay - 0.001
    # Every second chunk of 20 ms fills a hop, and nothing of it waits in a resampler.
    assert max(behind[1::2]) < TIMINGS[0].delay + 0.004
    assert all(len(chunk.samples) for chunk in chunks[1::2])
    played = sum(len(chunk.samples) for chunk in chunks) / rate
    assert played == pytest.approx(2.0, abs=0.001)


def test_session_that_is_late_computes_less(networks: LiveNetworks) -> None:
    """By a clock that goes on by 3 s whenever it is asked; no sound is lost by it. All hops fit
    2.4 s."""
    session = LiveSession(networks, 16_000, Choice(), clock=iter(range(0, 1000, 3)).__next__)
    spoken = [session.push(np.zeros(38_400, np.float32)) for _ in range(5)]
    assert spoken[-1].economy == len(TIMINGS) - 1
    assert sum(len(each.samples) for each in spoken) == 5 * 38_400
    assert spoken[-1].behind == spoken[0].behind


def test_session_begins_at_level_of_machine(networks: LiveNetworks) -> None:
    """Else the first words of each would be held up."""
    session = LiveSession(networks, 16_000, Choice(), 3, clock=lambda: 0.0)
    assert session.push(np.zeros(320, np.float32)).economy == session.level == 3
    spoken = [session.push(np.zeros(8_000, np.float32)) for _ in range(40)]
    assert spoken[-1].economy == 0  # where it turns out to be quick


def test_first_words_import_nothing(tiny_checkpoints: Path) -> None:
    """In a process that has warmed up: half a second of that held up the first words."""
    script = """
import sys
import numpy as np
from pathlib import Path
from earshot.systems.voice_conversion.live.__main__ import load_networks, warm_up
from earshot.systems.voice_conversion.live.session import LiveSession
from earshot.systems.voice_conversion.live.process import Choice

networks = load_networks(Path(sys.argv[1]))
warm_up(networks)
buzz = (0.3 * (np.arange(48_000) % 130 / 130 - 0.5)).astype(np.float32)
before = set(sys.modules)
LiveSession(networks, 16_000, Choice()).push(buzz)
print(*set(sys.modules) - before)
"""
    command = [sys.executable, "-c", script, str(tiny_checkpoints / "any-voice")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout == "\n"


@pytest.mark.parametrize("rate", [0, 7_999, 192_001])
def test_session_at_impossible_rate_is_refused(networks: LiveNetworks, rate: int) -> None:
    with pytest.raises(InputError, match="Hz"):
        LiveSession(networks, rate, Choice())


def test_session_in_unknown_voice_is_refused(networks: LiveNetworks) -> None:
    with pytest.raises(InputError, match="There is no voice X"):
        LiveSession(networks, 48_000, Choice("X"))


def test_process_gives_what_a_session_gives(process: LiveProcess, networks: LiveNetworks) -> None:
    speech = (0.1 * np.random.default_rng(0).standard_normal(8000)).astype(np.float32)
    rows = networks.silence.numpy()[None] + np.arange(3, dtype=np.float32)[:, None]
    correction = Correction(rows, np.tile(rows[:, :1], 80) / 4, 0.0)
    vector = np.linspace(-1.7, 1.7, 8, dtype=np.float32)
    own = Voice("your voice", vector, 5.0, 0.2, corrections=((1.0, correction),))
    choice = Choice("SF1", own, 0.5, "units-64", "predicted")
    process.begin(16_000, choice)
    level = process.push(speech[:0], choice)[0]["economy"]  # that this machine keeps up with
    header, spoken = process.push(speech, choice)
    alone = LiveSession(networks, 16_000, choice, level).push(speech)
    np.testing.assert_allclose(spoken, alone.samples, atol=1e-3)
    assert (header["units"], header["behind"]) == (alone.units, alone.behind)


def test_process_goes_on_after_refusing_voice(process: LiveProcess) -> None:
    process.begin(16_000, Choice())
    with pytest.raises(InputError, match="There is no voice"):
        process.push(np.zeros(100, np.float32), Choice("X"))
    process.push(np.zeros(100, np.float32), Choice())


def test_processes_replace_one_that_ended(tiny_checkpoints: Path) -> None:
    processes = LiveProcesses(tiny_checkpoints / "any-voice")
    first = processes.take()
    processes.give_back(first, healthy=True)
    assert processes.take() is first
    first.close()
    with pytest.raises(WorkerError):
        first.begin(16_000, Choice())
    processes.give_back(first, healthy=True)
    second = processes.take()
    assert second is not first and second.usable
    processes.give_back(second, healthy=False)
    assert not second.usable
