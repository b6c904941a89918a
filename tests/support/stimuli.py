"""Folders with the sounds and the YAML of a listening test."""

from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import yaml

from earshot.study.design import DESIGNS

RATE = 16_000


def noise(
    path: Path, seconds: float = 0.6, rate: int = RATE, level: float = 0.05, channels: int = 1
) -> Path:
    """Write a WAV file of noise, the same for the same arguments."""
    rng = np.random.default_rng(1)
    samples = level * rng.standard_normal((round(seconds * rate), channels))
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.clip(samples, -0.9, 0.9), rate)
    return path


def make_folder(folder: Path, design: str = "acr", /, **more: Any) -> Path:
    """Write a test of the systems ours and theirs with stimuli one, two and three; None removes a
    key."""
    names = ["ours", "theirs"]
    spec: dict[str, Any] = {
        "title": "A test",
        "design": design,
        "systems": {name: f"{name}/*.wav" for name in names},
    }
    if DESIGNS[design].referenced:
        spec["reference"] = "reference/*.wav"
        names.append("reference")
    for name in names:
        for stimulus in ("one", "two", "three"):
            noise(folder / name / f"{stimulus}.wav")
    spec = {key: value for key, value in {**spec, **more}.items() if value is not None}
    (folder / "test.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    return folder
