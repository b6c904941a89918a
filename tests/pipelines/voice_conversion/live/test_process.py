"""Live sessions at a device's rate, and in a process of their own."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from media.errors import InputError
from media.workers.protocol import WorkerError
from pipelines.voice_conversion import VoiceConversion
from pipelines.voice_conversion.live import LiveConversion, LiveProcess, LiveProcesses, LiveSession

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pipeline(tiny_checkpoints: Path) -> VoiceConversion:
    return VoiceConversion.from_pretrained(tiny_checkpoints / "vqvae-512", "cpu")


@pytest.fixture(scope="module")
def process(tiny_checkpoints: Path) -> Iterator[LiveProcess]:
    started = LiveProcess(tiny_checkpoints / "vqvae-512")
    started.wait_until_ready()
    yield started
    started.close()


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_session_is_behind_by_the_conversion_and_the_resamplers(
    pipeline: VoiceConversion, rate: int
) -> None:
    session = LiveSession(pipeline, rate, "TF2")
    chunks = [session.push(np.zeros(rate // 50, np.float32)) for _ in range(100)]
    behind = [chunk.behind / rate for chunk in chunks[25:]]
    assert min(behind) >= LiveConversion.delay - 0.001
    assert max(behind) < LiveConversion.latency + 0.06
    played = sum(len(chunk.samples) for chunk in chunks) / rate
    assert played == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize("rate", [0, 7_999, 192_001])
def test_session_at_a_rate_that_no_device_has_is_refused(
    pipeline: VoiceConversion, rate: int
) -> None:
    with pytest.raises(InputError, match="Hz"):
        LiveSession(pipeline, rate, "TF2")


def test_session_in_an_unknown_voice_is_refused(pipeline: VoiceConversion) -> None:
    with pytest.raises(InputError, match="There is no voice X"):
        LiveSession(pipeline, 48_000, "X")


def test_process_gives_what_a_session_gives(
    process: LiveProcess, pipeline: VoiceConversion
) -> None:
    said = (0.1 * np.random.default_rng(0).standard_normal(8000)).astype(np.float32)
    process.begin(16_000, "SM1")
    told, spoken = process.push(said, "SM1")
    alone = LiveSession(pipeline, 16_000, "SM1").push(said)
    np.testing.assert_allclose(spoken, alone.samples, atol=1e-3)
    assert (told["units"], told["behind"]) == (alone.units, alone.behind)
    assert len(process.colors) == 512 and process.step == 0.02


def test_process_goes_on_after_it_refused_a_voice(process: LiveProcess) -> None:
    process.begin(16_000, "SM1")
    with pytest.raises(InputError, match="There is no voice"):
        process.push(np.zeros(100, np.float32), "X")
    process.push(np.zeros(100, np.float32), "TF2")


def test_processes_replace_one_that_ended(tiny_checkpoints: Path) -> None:
    processes = LiveProcesses(tiny_checkpoints / "vqvae-512")
    first = processes.take()
    processes.give_back(first, healthy=True)
    assert processes.take() is first
    first.close()
    with pytest.raises(WorkerError):
        first.begin(16_000)
    processes.give_back(first, healthy=True)
    second = processes.take()
    assert second is not first and second.alive
    processes.give_back(second, healthy=False)
    assert not second.alive
