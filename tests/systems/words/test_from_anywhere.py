"""Words are loaded by name, by folder and by default from any working directory."""

from pathlib import Path

import pytest

from earshot.core.paths import CHECKPOINTS
from earshot.systems.words import Words
from earshot.systems.words.pronunciation import Pronouncer

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", [None, "words", CHECKPOINTS / "words", str(CHECKPOINTS / "words")])
def test_words_are_loaded_from_any_folder(
    name: str | Path | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder may hold something of the same name that is no checkpoint."""
    (tmp_path / "words").mkdir()
    monkeypatch.chdir(tmp_path)
    words = Words.from_pretrained(device="cpu") if name is None else Words.from_pretrained(name)
    assert words.fingerprint
    assert words.embed_text("tree").pronunciation.phonemes == ("t", "ɹ", "i")
    assert Pronouncer.from_pretrained()("tree").phonemes == ("t", "ɹ", "i")


def test_unavailable_hub_words_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub id is asked for as it stands, and what cannot be had is named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(FileNotFoundError, match="nobody/words is neither"):
        Words.from_pretrained("nobody/words", "cpu")
