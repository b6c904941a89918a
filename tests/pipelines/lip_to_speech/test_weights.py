"""Configs of earlier names are read under today's."""

import pytest

from earshot.pipelines.lip_to_speech.weights import current_config


def test_config_of_earlier_names_is_renamed() -> None:
    config = current_config(
        {"name": "x", "talkers": ["a"], "sure": 0.5, "reader": {"points": 0, "deviation": 2.5}}
    )
    assert config == {
        "name": "x",
        "speakers": ["a"],
        "min_confidence": 0.5,
        "reader": {"std": 2.5},
    }


def test_config_of_landmark_reader_is_refused() -> None:
    with pytest.raises(ValueError, match="landmarks"):
        current_config({"name": "x", "reader": {"points": 40}})
