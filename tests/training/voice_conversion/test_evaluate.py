"""The whole evaluation on a made-up folder of digits, with untrained networks."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from earshot.core.paths import ASSETS
from earshot.media.text.grammar import DIGITS
from earshot.systems.voice_conversion.settings import VOICES
from training.common.corpora import Item
from training.common.report import markdown
from training.judges import whisper_base
from training.judges.evaluator import EvaluationModels, K
from training.judges.recogniser import Recogniser
from training.judges.speaker_encoder import SpeakerEncoder, nearer_to_target
from training.judges.sphinx import Spoken
from training.voice_conversion import open_vocabulary
from training.voice_conversion.evaluate import evaluate, evaluate_in_noise, publish
from training.voice_conversion.open_vocabulary import BABBLE, in_babble

FIELDS = "path speaker lang word pron seconds start end official_split".split()


@pytest.fixture
def models() -> EvaluationModels:
    torch.manual_seed(0)
    centroids = np.random.default_rng(0).standard_normal((K, 39)).astype(np.float32)
    return EvaluationModels(Recogniser().eval(), SpeakerEncoder().eval(), centroids)


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    """A folder laid out as the data, with nothing in it but noises that are called digits."""
    folder = tmp_path / "data" / "speech" / "free_spoken_digits"
    folder.mkdir(parents=True)
    noise = np.random.default_rng(0).standard_normal(16000 * len(DIGITS))
    soundfile.write(folder / "stranger.wav", 0.05 * noise, 16000)
    with (folder / "manifest.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for start, (word, phones) in enumerate(DIGITS.items()):
            row = ("stranger.wav", "stranger", "en", word, phones, 0.6, start, start + 0.6, "test")
            writer.writerow(dict(zip(FIELDS, row, strict=True)))
    return tmp_path / "data"


@pytest.mark.slow
def test_evaluate_of_digits_leaves_out_rest(
    digits: Path,
    tiny_checkpoints: Path,
    models: EvaluationModels,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What digits alone cannot measure is left out."""
    monkeypatch.setattr(EvaluationModels, "load", lambda: models)
    out = tmp_path / "table.json"
    only = ["vqvae-512", "vocoder", "any-voice"]
    rows = evaluate(digits, tiny_checkpoints, "all", out, quick=True, only=only)
    assert json.loads(out.read_text())["rows"] == rows
    systems = [row["system"] for row in rows]
    assert len(systems) == len(set(systems))
    assert [row["system"] for row in rows if row["shipped"]] == ["continuous, neural"]
    units = next(row for row in rows if row["system"] == "units-512, neural")
    assert 0 < units["bitrate"] <= 50 * 9
    assert 0 <= units["digit_error"] <= 100
    assert not {"wer", "mcd", "closer_to_target"} & set().union(*rows)


def test_loaded_evaluation_models_give_same_outputs(
    models: EvaluationModels, tmp_path: Path
) -> None:
    models.save(tmp_path, {"seed": 0})
    loaded = EvaluationModels.load(tmp_path)
    waveform = np.random.default_rng(0).standard_normal(16000).astype(np.float32)
    before, after = (m.recogniser.posteriors([waveform])[0] for m in (models, loaded))
    np.testing.assert_allclose(before, after, atol=0.02)
    before, after = (m.speaker_encoder.embed([waveform]) for m in (models, loaded))
    np.testing.assert_allclose(before, after, atol=0.02)


def test_evaluation_models_ignore_level_and_batch(models: EvaluationModels) -> None:
    short, long = (
        np.random.default_rng(0).standard_normal(n).astype(np.float32) for n in (8000, 20000)
    )
    alone = models.recogniser.posteriors([short])[0]
    together = models.recogniser.posteriors([0.01 * short, long])[0]
    np.testing.assert_allclose(alone, together, atol=1e-2)
    vectors = models.speaker_encoder.embed([short]), models.speaker_encoder.embed([short, long])
    np.testing.assert_allclose(vectors[0][0], vectors[1][0], atol=1e-3)


def test_nearer_to_target_compares_cosines() -> None:
    converted = np.array([[1.0, 0.1], [0.1, 1.0]])
    source, target = np.array([[0.0, 9.0]] * 2), np.array([[0.2, 0.0]] * 2)
    assert nearer_to_target(converted, source, target).tolist() == [True, False]


def test_markdown_shows_measured_columns_only() -> None:
    rows = [
        {"system": "one", "shipped": False, "wer": 12.34},
        {"system": "two", "shipped": True, "bitrate": 170.2},
    ]
    table = markdown(rows)
    assert "12.3" in table
    assert "two (default)" in table
    assert "MCD" not in table


def test_publish_keeps_rows_of_others(tmp_path: Path) -> None:
    """Publishing some systems keeps the rows of the others."""
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- results -->\n<!-- /results --><!-- open-results -->\n<!-- /open-results -->"
    )
    hours = {"conversion": {"steps": 1, "hours": 0.1}}
    for name, system in [
        ("evaluation", "MFCC"),
        ("vocoder", "copy synthesis, neural"),
        ("vqvae-64", "vqvae-64, neural"),
        ("any-voice", "continuous, neural"),
    ]:
        (tmp_path / name).mkdir()
        row = {"system": system, "shipped": False, "wer": 11.1}
        metrics = {"training": hours, "results": [row]}
        (tmp_path / name / "metrics.json").write_text(json.dumps(metrics))
    (tmp_path / "any-voice" / "config.json").write_text('{"name": "any-voice"}')
    publish([{"system": "continuous, neural", "shipped": True, "wer": 22.2}], tmp_path, page)
    lines = page.read_text().splitlines()
    assert any("vqvae-64" in line and "11.1" in line for line in lines)
    assert any("continuous" in line and "22.2" in line for line in lines)
    assert "22.2" in (tmp_path / "any-voice" / "README.md").read_text()
    assert not (tmp_path / "vqvae-64" / "README.md").exists()


@pytest.mark.parametrize("snr", [20.0, 0.0])
def test_babble_is_as_loud_as_asked(snr: float) -> None:
    speech, others = np.random.default_rng(0).standard_normal((2, 16000))
    noise = in_babble(speech.astype(np.float32), others, 1, snr) - speech
    ratio = 10 * np.log10(np.square(speech).mean() / np.square(noise).mean())
    assert ratio == pytest.approx(snr, abs=0.01)


def test_table_in_noise_shows_growing_errors(
    tmp_path: Path, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge hears a word unless the recording is louder than with babble 7 dB below it."""
    speech = 0.05 * np.random.default_rng(0).standard_normal((4, 16000)).astype(np.float32)
    recordings = [Spoken(waveform, ["word"], "somebody") for waveform in speech]
    monkeypatch.setattr(open_vocabulary, "open_test_set", lambda *_: {"visitors": recordings})
    monkeypatch.setattr(whisper_base, "available", lambda: True)
    monkeypatch.setattr(whisper_base, "words", lambda w: ["word"] if w.std() < 0.0545 else [])
    rows = evaluate_in_noise(tmp_path, tiny_checkpoints, tmp_path / "rows.json", quick=True)
    assert [row["system"] for row in rows] == ["original", "continuous, neural"]
    errors = [rows[0][f"noise_{snr}db"] for snr in (20, 10, 5, 0)]
    assert errors == [0, 0, 100, 100]
    assert json.loads((tmp_path / "rows.json").read_text())["rows"] == rows


def test_loud_babble_alone_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notice of noise comes in loud babble only."""
    folder = ASSETS / "voices"
    items = [Item(BABBLE, folder / f"{name}.ogg", name, "val") for name in VOICES]
    monkeypatch.setattr(open_vocabulary, "speech_items", lambda _: items)
    (row,) = open_vocabulary.notice_rows(tmp_path)
    assert row["group"] == f"validation, {len(VOICES)} recordings"
    assert row["warned_clean"] == row["warned_20db"] == 0
    assert row["warned_-5db"] == 100
    shares = [row[f"warned_{snr}db"] for snr in (20, 10, 5, 0, -5)]
    assert shares == sorted(shares)
