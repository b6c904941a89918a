"""The whole table of word embeddings on made-up corpora, its conditions and its card."""

import csv
import json
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
import soundfile

from earshot.media.text.phonemes import from_arpabet
from tests.training.words.tone_words import RATE, TONES, FakeWords
from training.words import systems
from training.words.evaluate import evaluate, publish
from training.words.recipe import OVER_STATES, SHIPPED
from training.words.test_set import WordType, far, in_noise, select_test_set

FIELDS = "path speaker lang word pron start end official_split".split()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two test speakers and a training speaker who say every word, and somebody unknown."""
    root = tmp_path / "data"
    splits = {"one": "testing", "two": "testing", "three": "training", "": "testing"}
    sound = np.random.default_rng(0)
    rows: list[dict[str, str]] = []
    for speaker, split in splits.items():
        for (language, phones, word), hertz in TONES.items():
            path = f"{speaker}-{word}.wav"
            time = np.arange(round(RATE * sound.uniform(0.3, 0.5))) / RATE
            row: dict[str, str] = dict(
                zip(FIELDS, (path, speaker, language, word, phones), strict=False)
            )
            rows.append(row | {"start": "", "end": "", "official_split": split})
            _write(root / "speech/arabic_speech_commands" / path, np.sin(2 * np.pi * hertz * time))
    # A training speaker's test take must not be a query.
    rows.append(rows[12] | {"official_split": "testing"})
    _write_manifest(root / "speech/arabic_speech_commands/manifest.csv", rows)
    _write(root / "sounds/rain.wav", sound.normal(size=RATE))
    noise = {"path": "rain.wav", "set": "esc50_16k", "label": "rain", "fold": "4"}
    _write_manifest(root / "sounds/manifest.csv", [noise])
    return root


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders with nothing but a config, and one that is not there."""
    monkeypatch.setattr(systems, "Words", FakeWords)
    folders = [
        tmp_path / "checkpoints" / name for name in ("words-constant", "words-gone", "words")
    ]
    for folder in (folders[0], folders[2]):
        folder.mkdir(parents=True)
        config = {"network": {"width": 6}, "temperature": 0.05}
        (folder / "config.json").write_text(json.dumps(config))
    return folders


@pytest.mark.slow
def test_select_test_set_takes_unseen_speakers(data: Path) -> None:
    test_set = select_test_set(data, "test")
    assert set(test_set.speakers[test_set.test]) == {
        "arabic_speech_commands one",
        "arabic_speech_commands two",
    }
    assert test_set.test.sum() == 12
    unseen = {
        test_set.vocabulary[label].phonemes for label in test_set.labels[test_set.of_zero_shot]
    }
    assert unseen == {("b", "ɝ", "d"), ("s", "i", "t", "t", "a")}
    assert test_set.of_zero_shot.sum() == 8  # by everybody
    assert len(test_set.vocabulary) == 6
    assert select_test_set(data, "all").test.sum() == 25
    assert select_test_set(data, "all", limit=5).test.sum() == 5
    _write_manifest(data / "speech/arabic_speech_commands/manifest.csv", [])
    with pytest.raises(SystemExit, match="no recordings of words"):
        select_test_set(data, "test")


@pytest.mark.slow
def test_evaluate_gives_known_values(
    data: Path, checkpoints: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An ideal and a constant system have known values."""
    out, plot = tmp_path / "rows.json", tmp_path / "curves.svg"
    rows = evaluate(data, checkpoints, "test", out, plot=plot)
    assert json.loads(out.read_text())["rows"] == rows
    assert plot.read_text().startswith("<?xml")
    table = {row["system"]: row for row in rows}
    assert list(table) == ["MFCC + DTW", "MFCC, 10 frames", "words-constant", "words"]
    assert [name for name, row in table.items() if row["shipped"]] == ["words"]
    assert "words-gone: its row is left out" in capsys.readouterr().out
    ideal, constant = table["words"], table["words-constant"]
    kinds = ("acoustic", "cross", "recognition", "p_at", "unseen", "near")
    perfect = [key for key in ideal if key.startswith(kinds)]
    some = {"acoustic_ap_across_trained", "cross_view_ap_0db", "p_at_1_trained", "unseen_p_at_1_ar"}
    some |= {"recognition_ap_0db", "unseen_recognition_ap_ar"}
    assert some < set(perfect)
    assert [ideal[key] for key in perfect] == pytest.approx([1.0] * len(perfect))
    assert ideal["calibration_error"] < 0.01
    # 12 recordings of 6 words: 6 of 66 pairs match; and 1 of 6 written words.
    assert constant["acoustic_ap"] == pytest.approx(6 / 66)
    assert constant["acoustic_ap_across"] == pytest.approx(6 / 36)
    assert constant["cross_view_ap"] == constant["unseen_cross_view_ap"] == pytest.approx(1 / 6)
    assert constant["cross_view_ap_trained"] == pytest.approx(1 / 4)
    assert constant["near_homophones"] == 0
    for name in ("MFCC + DTW", "MFCC, 10 frames"):
        assert constant["acoustic_ap"] < table[name]["acoustic_ap"] <= 1
        assert "cross_view_ap" not in table[name]


@pytest.mark.slow
def test_evaluate_without_noise_measures_the_rest(
    data: Path, checkpoints: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (data / "sounds/manifest.csv").unlink()
    row = evaluate(data, checkpoints, "all", quick=True)[-1]
    assert "nothing is measured in noise" in capsys.readouterr().out
    assert row["acoustic_ap_far"] == pytest.approx(1)
    assert "acoustic_ap_0db" not in row


@pytest.mark.slow
def test_evaluate_samples_recordings_for_dtw(
    data: Path, checkpoints: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systems.WarpingBaseline, "max_recordings", 10)
    rows = evaluate(data, checkpoints)
    assert [row.get("note") for row in rows] == ["10 of 12 recordings", None, None, None]


def test_dtw_similarity_ignores_the_speaking_rate() -> None:
    time = np.arange(RATE // 2) / RATE
    fast = np.sin(2 * np.pi * (300 * time + 1500 * time**2)).astype(np.float32)
    slow = np.interp(np.arange(0, len(fast), 0.8), np.arange(len(fast)), fast).astype(np.float32)
    warping = systems.WarpingBaseline()
    alike = warping.similarity(warping.encode([fast, slow, fast[::-1].copy()]))
    assert alike[0, 1] > alike[0, 2] + 0.1


def test_conditions_have_stated_noise() -> None:
    """Conditions have the signal-to-noise ratio and the reverberation time."""
    rng = np.random.default_rng(0)
    word, noise = (rng.normal(size=n).astype(np.float32) / 10 for n in (RATE // 2, 1000))
    for ratio in (20, 10, 0):
        added = in_noise(word, noise, ratio, 0.3) - word
        assert 20 * np.log10(np.std(word) / np.std(added)) == pytest.approx(ratio, abs=0.1)
    click = np.zeros(RATE // 2, np.float32)
    click[0] = 0.5
    distant = far(click, rng)
    assert len(distant) == RATE // 2 + RATE // 4
    assert distant[0] == pytest.approx(0.5)
    assert np.sum(distant[1:] ** 2) == pytest.approx(0.25, rel=0.1)  # as strong as the direct sound
    fall = np.sum(distant[2000:3600] ** 2) / np.sum(distant[3600:5200] ** 2)
    assert 10 * np.log10(fall) == pytest.approx(12, abs=1.5)  # 60 dB in 0.5 s: 12 in 0.1 s


@pytest.mark.slow
def test_publish_writes_metrics_and_cards(data: Path, checkpoints: list[Path]) -> None:
    rows = evaluate(data, checkpoints, "all", quick=True)
    folder = checkpoints[-1]
    before = [{"system": "other", "shipped": False, "acoustic_ap": 0.5}]
    metrics = {"training_hours": {"words": 1.25}, "results": [*before, {"system": "words"}]}
    (folder / "metrics.json").write_text(json.dumps(metrics))
    bottleneck, *_ = others = [
        folder.with_name(name) for name in (*SHIPPED, *OVER_STATES) if name != folder.name
    ]
    for other in others:
        copytree(folder, other)
    published = publish(rows[-1:], folder.parent)
    assert published == [*before, rows[-1]]  # what was not measured this time stays
    assert json.loads((folder / "metrics.json").read_text())["results"] == published
    assert "| words (default) " in (bottleneck / "README.md").read_text()
    card = (folder / "README.md").read_text()
    assert "1.2 hours" in card
    assert "| words (default) " in card
    assert "![Precision–recall curves" in card
    headings = [line[3:] for line in card.splitlines() if line.startswith("## ")]
    assert headings == [
        "Intended use",
        "Training data and licence",
        "Training procedure",
        "Evaluation",
        "Limits",
    ]


def test_word_type_is_pronunciation_in_language() -> None:
    assert WordType("en", from_arpabet("T UW")) == WordType("en", from_arpabet("t uw1"))
    assert WordType("en", ("l", "a")) != WordType("ar", ("l", "a"))


def _write(path: Path, waveform: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, 0.1 * waveform, RATE)


def _write_manifest(path: Path, rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else FIELDS)
        writer.writeheader()
        writer.writerows(rows)
