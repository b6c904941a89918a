"""Configs of earlier names are read under today's, and posteriors of readers are averaged."""

import pytest
import torch

from earshot.systems.lip_to_speech.weights import averaged, current_config


def test_config_of_earlier_names_is_renamed() -> None:
    config = current_config(
        {
            "name": "x",
            "talkers": ["a"],
            "sure": 0.5,
            "temperature": 3.0,
            "max_confidence": 0.9,
            "reader": {"points": 0, "deviation": 2.5},
        }
    )
    assert config == {
        "name": "x",
        "speakers": ["a"],
        "min_confidence": 0.5,
        "calibration": {"temperature": 3.0},
        "word_readers": [],
        "reader": {"std": 2.5},
    }


def test_config_of_landmark_reader_is_refused() -> None:
    with pytest.raises(ValueError, match="landmarks"):
        current_config({"name": "x", "reader": {"points": 40}})


def test_posteriors_of_readers_are_averaged() -> None:
    one, other = torch.tensor([0.8, 0.2]), torch.tensor([0.1, 0.9])
    together = averaged([one.log() + 3, other.log()])  # logits, up to a constant
    torch.testing.assert_close(together.exp(), (one + other) / 2)


def test_average_of_certain_readers_is_finite() -> None:
    together = averaged([torch.tensor([0.0, 200.0]), torch.tensor([0.0, 300.0])])
    assert together.isfinite().all()
