"""Every checkpoint that is shipped: complete, small, and the one whose results are told."""

import hashlib
import json
from pathlib import Path

import pytest

from pipelines import VoiceConversion

ROOT = Path(__file__).parents[1] / "checkpoints"
FOLDERS = sorted(path for path in ROOT.iterdir() if path.is_dir())
MODELS = [folder for folder in FOLDERS if folder.name.startswith("vqvae-")]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_weights_are_those_that_were_measured(folder: Path) -> None:
    metrics = json.loads((folder / "metrics.json").read_text())
    weights = (folder / "model.safetensors").read_bytes()
    assert hashlib.sha256(weights).hexdigest() == metrics["sha256"]
    assert len(weights) <= 10 * 2**20
    assert json.loads((folder / "config.json").read_text())
    assert "## Training" in (folder / "README.md").read_text()


def test_all_together_fit_a_space() -> None:
    assert sum(file.stat().st_size for file in ROOT.rglob("*") if file.is_file()) <= 100 * 2**20


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_an_example_is_converted(folder: Path) -> None:
    """Speech comes out: as long, about as loud, and not the same as what went in."""
    pipeline = VoiceConversion.from_pretrained(folder, "cpu")
    example = ROOT.parent / "assets" / "examples" / "woman-lighthouse.ogg"
    result = pipeline(example, target="SM1", vocoder=pipeline.vocoders[0])
    assert len(result.converted.waveform) == len(result.source.waveform)
    source, made = (s.log_mel.mean(axis=1) for s in (result.source, result.converted))
    # The syllables fall in the same places.
    correlation = float(((source - source.mean()) * (made - made.mean())).mean())
    assert correlation / float(source.std() * made.std()) > 0.7
    assert len(set(result.units.codes.tolist())) > 20
