"""What was said into the microphone is recognised in what was played, by the trained networks."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

import app
from media.audio.load import load, wav_bytes
from media.constants import SAMPLE_RATE
from media.paths import CHECKPOINTS
from media.text.grammar import GRID
from tests.browser.visit import Visit
from training.evaluators.sphinx import Sphinx

LOADING = 300_000  # ms: its process imports torch, beside other work
SENTENCE = "place blue at f two now"
# Of GRID: espeak's voice is one that nothing was trained on, and the recogniser errs too.
MOST_WRONG = 2


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sentence by espeak-ng, and a second of silence, for a microphone that hears it again and
    again."""
    path = tmp_path_factory.mktemp("said") / "said.wav"
    command = ["espeak-ng", "-v", "en-us", "-s", "140", "-w", path, SENTENCE]
    subprocess.run(command, check=True)
    waveform = np.pad(load(path).waveform, (SAMPLE_RATE // 2, SAMPLE_RATE // 2))
    path.write_bytes(wav_bytes(waveform, SAMPLE_RATE))
    return path


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    page = app.build("cpu")
    yield app.launch(page, app.options([], {}), block=False)
    page.close()


@pytest.fixture(scope="module")
def browser(chromium: Callable[..., Browser], said: Path) -> Iterator[Browser]:
    started = chromium(said)
    yield started
    started.close()


@pytest.mark.slow
@pytest.mark.skipif(not (CHECKPOINTS / "vqvae-512").exists(), reason="needs the trained networks")
def test_words_spoken_into_the_microphone_are_recognised_in_what_was_played(
    visit: Visit, said: Path, tmp_path: Path
) -> None:
    seconds = len(load(said).waveform) / SAMPLE_RATE
    visit.button("Live").click()
    expect(visit.page.locator(".live-line")).to_contain_text("ms delay", timeout=LOADING)
    visit.page.wait_for_timeout(1000 * 3 * seconds)
    line = visit.page.locator(".live-line").inner_text()
    visit.page.keyboard.press("Escape")
    with visit.page.expect_download() as download:
        visit.page.locator(".live-said").click()
    download.value.save_as(tmp_path / "live.wav")
    if "left out" in line:
        pytest.skip(f"this machine is too busy to convert live: {line}")
    played = load(tmp_path / "live.wav").waveform
    assert wrong(played, round(seconds * SAMPLE_RATE)) <= MOST_WRONG


def wrong(played: np.ndarray, length: int) -> int:
    """Words that are wrong in the best of the repetitions, which begin anywhere."""
    recogniser = Sphinx(word for slot in GRID for word in slot.items())
    starts = range(0, max(1, len(played) - length), length // 8)
    heard = [recogniser.words(played[start : start + length], GRID) for start in starts]
    words = SENTENCE.split()
    return min(
        sum(a != b for a, b in zip(words, found, strict=True)) if found else len(words)
        for found in heard
    )
