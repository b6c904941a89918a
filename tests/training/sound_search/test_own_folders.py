"""The threshold of a match in folders of anything."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.support.fake_sound_encoder import FakeEncoder, tone
from training.sound_search import own_folders


@pytest.fixture
def tones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two folders of tones instead of speech, noise and tones."""

    def folders(data: Path, rate: int) -> Iterator[tuple[str, list[np.ndarray]]]:
        assert (data, rate) == (tmp_path, FakeEncoder.sample_rate)
        yield "lower", [tone("low"), tone("deep")]
        yield "higher", [tone("high")]

    monkeypatch.setattr(own_folders, "_folders", folders)
    monkeypatch.setattr(own_folders, "MATCHES", {"lower": ("low", "deep"), "higher": ("high",)})
    monkeypatch.setattr(own_folders, "OTHERS", ("shrill", "middle"))


@pytest.mark.usefixtures("tones")
def test_own_threshold_parts_folder_from_rest(tmp_path: Path) -> None:
    """The threshold parts what a folder holds from the rest."""
    threshold, rows = own_folders.calibrate_own(FakeEncoder(), tmp_path)
    assert 0.1 < threshold <= 1.0 and rows[-1]["error"] == 0.0
    lower, higher, _ = rows
    assert lower["lowest"] > 0.9 > lower["highest_other"] and higher["system"] == "higher"


@pytest.mark.usefixtures("tones")
def test_errors_of_own_folders(tmp_path: Path) -> None:
    """A threshold above all scores misses every match, one below all lets every query match."""
    encoder = FakeEncoder()
    for threshold, missed, invented in ((2.0, 1.0, 0.0), (-2.0, 0.0, 1.0)):
        encoder.own_threshold = threshold
        rows = own_folders.measure_own(encoder, tmp_path)
        assert [row["system"] for row in rows[:2]] == ["lower", "higher"] and len(rows) == 3
        for row in rows:
            assert (row["missed"], row["invented"], row["error"]) == (missed, invented, 0.5)
    threshold, _ = own_folders.calibrate_own(encoder, tmp_path)
    encoder.own_threshold = threshold
    assert own_folders.measure_own(encoder, tmp_path)[-1]["error"] == 0.0


def test_own_threshold_is_written_beside_other(tmp_path: Path) -> None:
    config = {"name": "x", "threshold": 0.8, "network": {}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    for threshold in (0.5, 0.25):
        own_folders.write_own_threshold(tmp_path, threshold)
        written = json.loads((tmp_path / "config.json").read_text())
        assert list(written) == ["name", "threshold", "own_threshold", "network"]
        assert written["own_threshold"] == threshold
