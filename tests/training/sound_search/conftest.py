"""A data folder of tones, queries for them, and encoders to evaluate."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.training.sound_search.tones import (
    QUESTIONS,
    RATE,
    TONES,
    ToneEncoder,
    one_hot,
    write_manifest,
)
from training.sound_search import evaluate as evaluation


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder: three tones of each class in each of folds 4 and 5, and one other sound."""
    root = tmp_path / "data" / "sounds"
    time = np.arange(RATE) / RATE
    rows = [{"path": "other/x.ogg", "set": "other", "label": "good year", "fold": ""}]
    for fold in (4, 5):
        for label, hertz in TONES.items():
            for number in range(3):
                path = Path("esc50_16k", f"fold{fold}", f"{label}-{number}.wav")
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                soundfile.write(root / path, 0.1 * np.sin(2 * np.pi * hertz * time), RATE)
                row = {"path": str(path), "set": "esc50_16k", "label": label, "fold": str(fold)}
                rows.append(row)
    write_manifest(root, rows)
    return tmp_path / "data"


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    path = tmp_path / "queries.jsonl"
    with path.open("w") as file:
        for label, (sentence, keyword) in QUESTIONS.items():
            for style, text in (("keywords", keyword), ("sentence", sentence)):
                row = {"query": text, "relevant_class": label, "style": style}
                file.write(json.dumps(row) + "\n")
    return path


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two folders with a config: of a working encoder, and of one that gives zeros."""
    monkeypatch.setattr(evaluation, "EarshotEncoder", ToneEncoder)
    monkeypatch.setattr(evaluation, "SentenceEncoder", lambda: one_hot)
    folders = [tmp_path / "checkpoints" / name for name in ("sound-deaf", "sound-ear")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({"folds": [1, 2, 3]}))
    return folders
