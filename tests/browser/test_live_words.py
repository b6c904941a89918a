"""What was said into the microphone is recognised in what was made of it, by the trained networks.

A machine that is busy may be slower than the speaker: here the server leaves nothing out for it,
and what it made is judged, however late it came.
"""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from earshot.app import launch, site
from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.load import load, wav_bytes
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.grammar import GRID
from earshot.systems.voice_conversion.live import process
from earshot.systems.voice_conversion.live.process import LiveProcess
from earshot.systems.voice_conversion.settings import live_checkpoint
from earshot.tabs.shared.services import Services
from earshot.tabs.voice_conversion.live import visitor
from tests.browser.visit import Visit
from tests.support.serving import close
from training.judges.sphinx import Sphinx

LOADING = 300_000  # ms: its process imports torch, beside other work
SENTENCE = "set white with p four soon"
# Of six: espeak's voice is one that nothing was trained on, and the recogniser errs too.
MAX_WRONG = 2
PATIENCE = 100.0  # seconds of lateness, and for an answer
FASTEST = 48_000  # Hz of the device, or less


@pytest.fixture(scope="module")
def sentence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sentence by espeak-ng, and a second of silence, for a microphone that hears it again and
    again."""
    path = tmp_path_factory.mktemp("sentence") / "sentence.wav"
    command = ["espeak-ng", "-v", "en-us", "-s", "140", "-w", path, SENTENCE]
    subprocess.run(command, check=True)
    waveform = np.pad(load(path).waveform, (SAMPLE_RATE // 2, SAMPLE_RATE // 2))
    path.write_bytes(wav_bytes(waveform, SAMPLE_RATE))
    return path


@pytest.fixture(scope="module")
def chunk_lengths() -> list[int]:
    """Samples that each chunk gave."""
    return []


@pytest.fixture(scope="module")
def address(chunk_lengths: list[int]) -> Iterator[str]:
    page = site.build(Services(device="cpu"))
    push = LiveProcess.push

    def counted(*arguments: Any) -> tuple[dict, np.ndarray]:
        about, spoken = push(*arguments)
        chunk_lengths.append(len(spoken))
        return about, spoken

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(LiveProcess, "push", counted)
        patched.setattr(visitor, "MAX_BACKLOG", PATIENCE)
        patched.setattr(process, "MAX_WAIT_SECONDS", PATIENCE)
        yield launch.launch(page, launch.options([], {}), block=False)
    close(page)


@pytest.fixture(scope="module")
def browser(chromium: Callable[..., Browser], sentence: Path) -> Iterator[Browser]:
    started = chromium(sentence)
    yield started
    started.close()


@pytest.mark.slow
@pytest.mark.skipif(not live_checkpoint(CHECKPOINTS).exists(), reason="needs trained networks")
def test_words_spoken_live_are_recognised(
    visit: Visit, sentence: Path, chunk_lengths: list[int], tmp_path: Path
) -> None:
    """Words spoken into the microphone are recognised in what was played."""
    seconds = len(load(sentence).waveform) / SAMPLE_RATE
    visit.button("Live").click()
    expect(visit.page.locator(".live-line")).to_contain_text("ms delay", timeout=LOADING)
    # Two sentences after the first, in which the stream finds the level of the speaker.
    until = time.monotonic() + PATIENCE
    while sum(chunk_lengths) < 3 * seconds * FASTEST and time.monotonic() < until:
        visit.page.wait_for_timeout(500)
    visit.page.keyboard.press("Escape")
    with visit.page.expect_download() as download:
        visit.page.locator(".live-said").click()
    download.value.save_as(tmp_path / "live.wav")
    played = load(tmp_path / "live.wav").waveform
    assert wrong(played, round(seconds * SAMPLE_RATE)) <= MAX_WRONG


def wrong(played: np.ndarray, length: int) -> int:
    """Words that are wrong in the best of the repetitions, which begin anywhere."""
    recogniser = Sphinx(word for slot in GRID for word in slot.items())
    starts = range(0, max(1, len(played) - length), length // 8)
    transcripts = [recogniser.words(played[start : start + length], GRID) for start in starts]
    words = SENTENCE.split()
    return min(
        sum(a != b for a, b in zip(words, transcript, strict=True)) if transcript else len(words)
        for transcript in transcripts
    )
