"""Metrics of word embeddings against references, and the whole table on made-up corpora."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
import soundfile
from sklearn.metrics import average_precision_score

from media.text.phonemes import from_arpabet, from_ipa, from_pinyin
from training.words.evaluate import systems
from training.words.evaluate.calibration import calibrate, calibration_error
from training.words.evaluate.card import publish
from training.words.evaluate.conditions import far, in_noise
from training.words.evaluate.evaluate import evaluate
from training.words.evaluate.material import WordType, select_material
from training.words.evaluate.metrics import average_precision, operating_curve, pairs, precisions

RATE = 16_000
# Word → its tone in Hz, which an ideal system recovers; the last two are zero-shot.
TONES = {
    ("en", "T R IY", "tree"): 400,
    ("en", "TH R IY", "three"): 600,
    ("ar", "laː", "no"): 900,
    ("zh", "yu3 yin1", "语音"): 1300,
    ("en", "B ER D", "bird"): 1900,
    ("ar", "sitta", "six"): 2700,
}
READ = {"en": from_arpabet, "ar": from_ipa, "zh": from_pinyin}
PHONEMES = [READ[language](phones) for language, phones, _ in TONES]
FIELDS = "path speaker lang word pron start end official_split".split()


class FakeWords:
    """Embeds the strength of each tone; the constant one ignores the sound."""

    def __init__(self, constant: bool) -> None:
        self._constant = constant

    @classmethod
    def from_pretrained(cls, folder: Path) -> "FakeWords":
        return cls(folder.name == "words-constant")

    def embed_waveforms(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        return np.stack([self._embed(waveform) for waveform in waveforms])

    def embed_phonemes(self, words: Sequence[Sequence[str]]) -> np.ndarray:
        return np.eye(len(TONES), dtype=np.float32)[[PHONEMES.index(tuple(w)) for w in words]]

    def _embed(self, waveform: np.ndarray) -> np.ndarray:
        if self._constant:
            return np.full(len(TONES), len(TONES) ** -0.5, np.float32)
        time = np.arange(len(waveform)) / RATE
        tones = np.exp(-2j * np.pi * np.outer([*TONES.values()], time))
        heard = np.abs(tones @ waveform)
        return (heard / np.linalg.norm(heard)).astype(np.float32)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two test speakers and a training speaker who say every word, and somebody unknown."""
    root = tmp_path / "data"
    splits = {"one": "testing", "two": "testing", "three": "training", "": "testing"}
    sound = np.random.default_rng(0)
    rows = []
    for speaker, split in splits.items():
        for (language, phones, word), hertz in TONES.items():
            path = f"{speaker}-{word}.wav"
            time = np.arange(round(RATE * sound.uniform(0.3, 0.5))) / RATE
            row = dict(zip(FIELDS, (path, speaker, language, word, phones), strict=False))
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


@pytest.mark.parametrize("decimals", [1, 6])
def test_average_precision_equals_that_of_scikit_learn(decimals: int) -> None:
    rng = np.random.default_rng(0)
    labels = rng.random(3000) < 0.1
    scores = (rng.normal(size=3000) + labels).round(decimals)  # with one decimal, many ties
    ours = average_precision(scores[labels], scores[~labels])
    assert ours == pytest.approx(average_precision_score(labels, scores))


def test_average_precision_of_perfect_constant_and_wrong_scores() -> None:
    rng = np.random.default_rng(0)
    assert average_precision(np.array([0.9, 0.8]), np.array([0.7, 0.1])) == 1
    assert average_precision(np.zeros(10), np.zeros(90)) == pytest.approx(0.1)
    chance = average_precision(rng.random(10_000), rng.random(90_000))
    assert chance == pytest.approx(0.1, abs=0.01)
    assert average_precision(np.array([0.1]), np.array([0.2, 0.3])) == pytest.approx(1 / 3)
    # Found as 1st, 3rd: precision 1 at a recall of a half, 2 / 3 at 1.
    np.testing.assert_allclose(precisions(np.array([0.7, 0.9]), np.array([0.8])), [1, 2 / 3])


def test_pairs_counts_each_pair_once_or_only_different_speakers() -> None:
    similarity = np.arange(16.0).reshape(4, 4)
    types, speakers = np.array([0, 0, 1, 0]), np.array(["a", "a", "b", "b"])
    matching, others = pairs(similarity, types)
    assert sorted(matching) == [1, 3, 7]
    assert sorted(others) == [2, 6, 11]
    matching, others = pairs(similarity, types, speakers)
    assert sorted(matching) == [3, 7]
    assert sorted(others) == [2, 6]


def test_operating_curve_goes_from_all_pairs_to_none() -> None:
    vectors = np.array([[1, 0], [0.8, 0.6], [0, 1], [0.6, 0.8]], np.float32)
    curve = operating_curve(vectors, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    at = {round(threshold, 2): i for i, threshold in enumerate(curve["threshold"])}
    # Between different speakers: 0.8 and 0.8 of one word, 0.6 and 0.6 of different ones.
    for threshold, precision, recall in ((0, 0.5, 1), (0.5, 0.5, 1), (0.7, 1, 1), (0.9, 1, 0)):
        point = at[threshold]
        assert (curve["precision"][point], curve["recall"][point]) == (precision, recall)


def test_calibration_error_is_low_at_the_true_temperature() -> None:
    rng = np.random.default_rng(0)
    spoken, written = (_unit(rng.normal(size=(n, 8))) for n in (4000, 20))
    weights = np.exp(spoken @ written.T / 0.2)
    chances = weights.cumsum(axis=1) / weights.sum(axis=1, keepdims=True)
    labels = (rng.random((4000, 1)) > chances).sum(axis=1)
    cosines = spoken @ written.T
    assert calibration_error(cosines, labels, 0.2) < 0.03
    assert calibration_error(cosines, labels, 0.01) > 0.3


def test_calibrate_puts_the_unknown_word_between_wrong_and_right_ones() -> None:
    rng = np.random.default_rng(0)
    written = _unit(rng.normal(size=(40, 16)))
    labels = rng.integers(0, 40, 1000)
    spoken = _unit(written[labels] + 0.15 * rng.normal(size=(1000, 16)))
    cosines = spoken @ written.T
    temperature, another = calibrate(cosines, labels)
    right = cosines[np.arange(1000), labels]
    cosines[np.arange(1000), labels] = -1
    assert np.median(cosines.max(axis=1)) < another < np.median(right)
    assert 0.001 < temperature < 0.3


@pytest.mark.slow
def test_select_material_takes_speakers_who_are_not_trained_on(data: Path) -> None:
    material = select_material(data, "test")
    assert set(material.speakers[material.test]) == {
        "arabic_speech_commands one",
        "arabic_speech_commands two",
    }
    assert material.test.sum() == 12
    unseen = {
        material.vocabulary[label].phonemes for label in material.labels[material.of_zero_shot]
    }
    assert unseen == {("b", "ɝ", "d"), ("s", "i", "t", "t", "a")}
    assert material.of_zero_shot.sum() == 8  # by everybody
    assert len(material.vocabulary) == 6
    assert select_material(data, "all").test.sum() == 25
    assert select_material(data, "all", limit=5).test.sum() == 5
    _write_manifest(data / "speech/arabic_speech_commands/manifest.csv", [])
    with pytest.raises(SystemExit, match="no recordings of words"):
        select_material(data, "test")


@pytest.mark.slow
def test_evaluate_of_an_ideal_and_a_constant_system_gives_known_values(
    data: Path, checkpoints: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    monkeypatch.setattr(systems.TimeWarping, "max_recordings", 10)
    rows = evaluate(data, checkpoints)
    assert [row.get("note") for row in rows] == ["10 of 12 recordings", None, None, None]


def test_dtw_similarity_ignores_the_speaking_rate() -> None:
    time = np.arange(RATE // 2) / RATE
    fast = np.sin(2 * np.pi * (300 * time + 1500 * time**2)).astype(np.float32)
    slow = np.interp(np.arange(0, len(fast), 0.8), np.arange(len(fast)), fast).astype(np.float32)
    warping = systems.TimeWarping()
    alike = warping.similarity(warping.encode([fast, slow, fast[::-1].copy()]))
    assert alike[0, 1] > alike[0, 2] + 0.1


def test_conditions_have_the_signal_to_noise_ratio_and_reverberation_time() -> None:
    rng = np.random.default_rng(0)
    word, noise = (rng.normal(size=n).astype(np.float32) / 10 for n in (RATE // 2, 1000))
    for ratio in (20, 10, 0):
        added = in_noise(word, noise, ratio, 0.3) - word
        assert 20 * np.log10(np.std(word) / np.std(added)) == pytest.approx(ratio, abs=0.1)
    click = np.zeros(RATE // 2, np.float32)
    click[0] = 0.5
    heard = far(click, rng)
    assert len(heard) == RATE // 2 + RATE // 4
    assert heard[0] == pytest.approx(0.5)
    assert np.sum(heard[1:] ** 2) == pytest.approx(0.25, rel=0.1)  # as strong as the direct sound
    fall = np.sum(heard[2000:3600] ** 2) / np.sum(heard[3600:5200] ** 2)
    assert 10 * np.log10(fall) == pytest.approx(12, abs=1.5)  # 60 dB in 0.5 s: 12 in 0.1 s


@pytest.mark.slow
def test_publish_writes_metrics_and_cards(data: Path, checkpoints: list[Path]) -> None:
    rows = evaluate(data, checkpoints, "all", quick=True)
    folder = checkpoints[-1]
    before = [{"system": "other", "shipped": False, "acoustic_ap": 0.5}]
    metrics = {"training_hours": {"words": 1.25}, "results": [*before, {"system": "words"}]}
    (folder / "metrics.json").write_text(json.dumps(metrics))
    bottleneck = folder.with_name("words-bottleneck")
    copytree(folder, bottleneck)
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


def test_word_type_is_a_pronunciation_in_a_language() -> None:
    assert WordType("en", from_arpabet("T UW")) == WordType("en", from_arpabet("t uw1"))
    assert WordType("en", ("l", "a")) != WordType("ar", ("l", "a"))


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _write(path: Path, waveform: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, 0.1 * waveform, RATE)


def _write_manifest(path: Path, rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else FIELDS)
        writer.writeheader()
        writer.writerows(rows)
