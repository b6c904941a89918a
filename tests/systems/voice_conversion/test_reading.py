"""Whether a recording is of a person reading the text: voices of espeak-ng, noise, other texts."""

import subprocess
from pathlib import Path
from random import Random

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.audio.load import load
from earshot.systems.voice_conversion.reading import (
    LINES,
    OPENING,
    SLOTS,
    Reading,
    _recognise,
    _slots,
    agrees,
)

pytestmark = pytest.mark.slow

RATE = 16_000
READING = Reading.draw(Random(0))


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """The text of READING as espeak-ng reads it (T,)."""
    path = tmp_path_factory.mktemp("reading") / "text.wav"
    subprocess.run(["espeak-ng", "-v", "en-us", "-s", "150", "-w", path, READING.text], check=True)
    return load(path, RATE, 30.0).waveform


def test_draw_gives_new_text() -> None:
    """The text names the app and holds the drawn words."""
    texts = {Reading.draw(Random(seed)).text for seed in range(50)}
    assert len(texts) == 50
    assert "Earshot" in READING.text
    assert all(word in READING.text.lower() for word in READING.words)
    assert "{" not in READING.text


def test_check_accepts_the_text(recording: np.ndarray) -> None:
    READING.check(recording)
    noise = np.random.default_rng(0).standard_normal(len(recording)).astype(np.float32)
    READING.check(recording + 0.1 * np.sqrt(np.square(recording).mean()) * noise)


def test_check_refuses_lines_with_other_words(recording: np.ndarray) -> None:
    others = Reading(READING.lines, tuple(_another(word) for word in READING.words))
    with pytest.raises(InputError, match="did not sound like the text") as refused:
        others.check(recording)
    assert "Record again" not in refused.value.message
    assert "Record again" in refused.value.advice


@pytest.mark.parametrize("name", ["woman-lighthouse.ogg", "man-place-blue.ogg"])
def test_check_refuses_speech_that_fits_by_chance(name: str) -> None:
    """The recogniser that has the text finds words of it in speech about anything: whoever draws a
    text with these words needs the other one to refuse."""
    waveform = load(ASSETS / "examples" / name, RATE, 30.0).waveform
    for lines in (READING.lines, (OPENING, *LINES[:3])):
        words = _recognise(lines, waveform)
        slots = [slot for line in lines for slot in _slots(line)]
        words += [SLOTS[slot][0] for slot in slots[len(words) :]]
        with pytest.raises(InputError, match="did not sound like the text"):
            Reading(lines, tuple(words)).check(waveform)


def test_agrees_counts_words_of_each_line() -> None:
    """Numbers and spellings do not matter; a line that was not read does."""
    lines = ["seven green boats came back", "my neighbor travelled at five o'clock"]
    assert agrees(lines, "7 green boats came back. My neighbour traveled at 5 o'clock.")
    assert agrees(lines, "Seven dream boats came back. My neighbors travelled at five o'clock.")
    assert not agrees(lines, "Seven green boats came back.")
    assert not agrees(lines, "Seven green boats came back. My sister was never here again, no.")
    assert not agrees(lines, "Seven green boats came back and " * 3 + lines[1])
    assert not agrees(lines, "")
    assert not agrees(lines, f"Seven boats. {lines[1]}")


@pytest.mark.parametrize("seconds", [0.0, 12.0])
def test_check_refuses_silence_and_noise(seconds: float) -> None:
    noise = 0.1 * np.random.default_rng(0).standard_normal(round(seconds * RATE))
    for waveform in (noise, np.zeros_like(noise)):
        with pytest.raises(InputError, match="did not sound like the text"):
            READING.check(waveform.astype(np.float32))


def test_every_word_can_be_recognised() -> None:
    import pocketsphinx

    path = Path(pocketsphinx.get_model_path()) / "en-us" / "cmudict-en-us.dict"
    spellings = {line.split()[0] for line in path.read_text().splitlines()}
    written = {word for line in LINES for word in line.split() if not word.startswith("{")}
    assert written | {word for words in SLOTS.values() for word in words} <= spellings


def _another(word: str) -> str:
    """Another word of the same slot."""
    (words,) = (words for words in SLOTS.values() if word in words)
    return next(other for other in words if other != word)
