"""A sound encoder without a network, and the index of a folder of tones."""

from pathlib import Path

import pytest

from benchmarks.support.fake_sound_encoder import WORDS, FakeEncoder, write_tone
from earshot.sound_index.index import SoundIndex


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a tone of each octave."""
    for word in WORDS:
        write_tone(tmp_path / "sounds" / f"{word}.wav", word)
    return tmp_path / "sounds"


@pytest.fixture
def index(folder: Path, encoder: FakeEncoder) -> SoundIndex:
    index = SoundIndex.empty(encoder)
    index.add(sorted(folder.iterdir()))
    return index
