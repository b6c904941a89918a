"""Kinds never trained on: which they are, and how their clips are ranked among the others."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.training.sound_search.tones import RATE, ToneEncoder
from training.sound_search import corpus, unseen
from training.sound_search.corpus import unseen_kinds
from training.sound_search.unseen import evaluate_unseen


@pytest.fixture
def data(data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of tones with its other sound, of a kind that ESC-50 lacks; one kind is drawn."""
    monkeypatch.setattr(corpus, "N_UNSEEN", 1)
    time = np.arange(RATE) / RATE
    other = data / "sounds/other/x.ogg"
    other.parent.mkdir()
    soundfile.write(other, 0.1 * np.sin(2 * np.pi * 500 * time), RATE)
    return data


def test_unseen_kinds_are_drawn_by_seed() -> None:
    kinds = [f"kind {number}" for number in range(50)]
    recordings = [("esc50_16k", kind) for kind in kinds] * 2
    drawn = unseen_kinds([*recordings, ("other", "kind 3"), ("other", "good_year")])
    assert "good_year" in drawn and len(drawn & set(kinds)) == 10
    assert drawn == unseen_kinds([("other", "good_year"), *recordings[::-1]])


def checkpoint(folder: Path, **config: object) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_unseen_kinds_are_ranked_among_others(
    data: Path, queries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unseen, "EarshotEncoder", ToneEncoder)
    monkeypatch.setattr(unseen, "QUERIES", queries)
    fair = {"folds": [1, 2, 3], "without_unseen": True}
    folders = [checkpoint(tmp_path / name, **fair) for name in ("sound-ear", "sound-too")]
    out = tmp_path / "rows.json"
    rows = {row["system"]: row for row in evaluate_unseen(data, folders, out)}
    assert json.loads(out.read_text())["rows"] == list(rows.values())
    assert list(rows) == ["chance", "sound-ear", "sound-too", "sound-ear + sound-too"]
    ear = rows["sound-ear"]
    # "good year" sounds like a dog: a query for dogs finds it among the three of fold 4.
    assert ear["known_R@1"] == 1 and ear["known_mAP@10"] > 0.9
    assert ear["unseen_R@10"] == 1 and ear["unseen_mAP@10"] > 0.9
    assert ear["other_mAP@10"] == 0  # it does not know the words: the last of 13
    assert rows["sound-ear + sound-too"]["known_R@1"] == 1


@pytest.mark.parametrize(
    "config", [{"folds": [1, 2, 3]}, {"folds": [1, 2, 3, 4], "without_unseen": True}]
)
def test_network_that_heard_kinds_is_refused(data: Path, tmp_path: Path, config: dict) -> None:
    """A network that heard these kinds or clips gives no result."""
    with pytest.raises(SystemExit, match="sound-cnn"):
        evaluate_unseen(data, [checkpoint(tmp_path / "sound-cnn", **config)])
