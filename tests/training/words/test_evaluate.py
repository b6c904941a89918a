"""Measures of words against others' and by hand, and the whole table on made-up corpora."""

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
# Word → its tone in Hz, which a perfect ear reads back; the last two are never trained on.
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


class Ear:
    """Hears which tone sounds; one that is deaf hears none."""

    def __init__(self, deaf: bool) -> None:
        self._deaf = deaf

    @classmethod
    def from_pretrained(cls, folder: Path) -> "Ear":
        return cls(folder.name == "words-deaf")

    def embed_waveforms(self, waveforms: Sequence[np.ndarray]) -> np.ndarray:
        return np.stack([self._hear(waveform) for waveform in waveforms])

    def embed_phonemes(self, words: Sequence[Sequence[str]]) -> np.ndarray:
        return np.eye(len(TONES), dtype=np.float32)[[PHONEMES.index(tuple(w)) for w in words]]

    def _hear(self, waveform: np.ndarray) -> np.ndarray:
        if self._deaf:
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
    monkeypatch.setattr(systems, "Words", Ear)
    folders = [tmp_path / "checkpoints" / name for name in ("words-deaf", "words-gone", "words")]
    for folder in (folders[0], folders[2]):
        folder.mkdir(parents=True)
        config = {"network": {"width": 6}, "temperature": 0.05}
        (folder / "config.json").write_text(json.dumps(config))
    return folders


@pytest.mark.parametrize("decimals", [1, 6])
def test_average_precision_is_that_of_scikit_learn(decimals: int) -> None:
    rng = np.random.default_rng(0)
    labels = rng.random(3000) < 0.1
    scores = (rng.normal(size=3000) + labels).round(decimals)  # with one decimal, many ties
    ours = average_precision(scores[labels], scores[~labels])
    assert ours == pytest.approx(average_precision_score(labels, scores))


def test_average_precision_of_perfect_useless_and_wrong_scores() -> None:
    rng = np.random.default_rng(0)
    assert average_precision(np.array([0.9, 0.8]), np.array([0.7, 0.1])) == 1
    assert average_precision(np.zeros(10), np.zeros(90)) == pytest.approx(0.1)
    chance = average_precision(rng.random(10_000), rng.random(90_000))
    assert chance == pytest.approx(0.1, abs=0.01)
    assert average_precision(np.array([0.1]), np.array([0.2, 0.3])) == pytest.approx(1 / 3)
    # Found as 1st, 3rd: precision 1 at a recall of a half, 2 / 3 at 1.
    np.testing.assert_allclose(precisions(np.array([0.7, 0.9]), np.array([0.8])), [1, 2 / 3])


def test_pairs_are_all_pairs_once_or_those_of_different_speakers() -> None:
    similarity = np.arange(16.0).reshape(4, 4)
    types, speakers = np.array([0, 0, 1, 0]), np.array(["a", "a", "b", "b"])
    matching, others = pairs(similarity, types)
    assert sorted(matching) == [1, 3, 7]
    assert sorted(others) == [2, 6, 11]
    matching, others = pairs(similarity, types, speakers)
    assert sorted(matching) == [3, 7]
    assert sorted(others) == [2, 6]


def test_the_operating_curve_falls_from_every_pair_to_none() -> None:
    vectors = np.array([[1, 0], [0.8, 0.6], [0, 1], [0.6, 0.8]], np.float32)
    curve = operating_curve(vectors, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    at = {round(threshold, 2): i for i, threshold in enumerate(curve["threshold"])}
    # Between different speakers: 0.8 and 0.8 of one word, 0.6 and 0.6 of different ones.
    for threshold, precision, recall in ((0, 0.5, 1), (0.5, 0.5, 1), (0.7, 1, 1), (0.9, 1, 0)):
        point = at[threshold]
        assert (curve["precision"][point], curve["recall"][point]) == (precision, recall)


def test_calibration_error_knows_the_temperature_that_made_the_labels() -> None:
    rng = np.random.default_rng(0)
    spoken, written = (_unit(rng.normal(size=(n, 8))) for n in (4000, 20))
    weights = np.exp(spoken @ written.T / 0.2)
    chances = weights.cumsum(axis=1) / weights.sum(axis=1, keepdims=True)
    labels = (rng.random((4000, 1)) > chances).sum(axis=1)
    cosines = spoken @ written.T
    assert calibration_error(cosines, labels, 0.2) < 0.03
    assert calibration_error(cosines, labels, 0.01) > 0.3


def test_another_word_is_as_near_as_wrong_ones_are_and_the_right_one_is_not() -> None:
    rng = np.random.default_rng(0)
    written = _unit(rng.normal(size=(40, 16)))
    labels = rng.integers(0, 40, 1000)
    spoken = _unit(written[labels] + 0.15 * rng.normal(size=(1000, 16)))
    temperature, another = calibrate(spoken, written, labels)
    cosines = spoken @ written.T
    right = cosines[np.arange(1000), labels]
    cosines[np.arange(1000), labels] = -1
    assert np.median(cosines.max(axis=1)) < another < np.median(right)
    assert 0.001 < temperature < 0.3


def test_test_queries_are_of_speakers_who_are_never_trained_on(data: Path) -> None:
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


def test_the_table_of_an_ear_that_hears_and_one_that_is_deaf(
    data: Path, checkpoints: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, plot = tmp_path / "rows.json", tmp_path / "curves.svg"
    rows = evaluate(data, checkpoints, "test", out, plot=plot)
    assert json.loads(out.read_text())["rows"] == rows
    assert plot.read_text().startswith("<?xml")
    table = {row["system"]: row for row in rows}
    assert list(table) == ["MFCC + DTW", "MFCC, 10 frames", "words-deaf", "words"]
    assert [name for name, row in table.items() if row["shipped"]] == ["words"]
    assert "words-gone: its row is left out" in capsys.readouterr().out
    ear, deaf = table["words"], table["words-deaf"]
    kinds = ("acoustic", "cross", "p_at", "unseen", "near")
    perfect = [key for key in ear if key.startswith(kinds)]
    some = {"acoustic_ap_across_trained", "cross_view_ap_0db", "p_at_1_trained", "unseen_p_at_1_ar"}
    assert some < set(perfect)
    assert [ear[key] for key in perfect] == pytest.approx([1.0] * len(perfect))
    assert ear["calibration_error"] < 0.01
    # 12 recordings of 6 words: 6 of 66 pairs match; and 1 of 6 written words.
    assert deaf["acoustic_ap"] == pytest.approx(6 / 66)
    assert deaf["acoustic_ap_across"] == pytest.approx(6 / 36)
    assert deaf["cross_view_ap"] == deaf["unseen_cross_view_ap"] == pytest.approx(1 / 6)
    assert deaf["cross_view_ap_trained"] == pytest.approx(1 / 4)
    assert deaf["near_homophones"] == 0
    for name in ("MFCC + DTW", "MFCC, 10 frames"):
        assert deaf["acoustic_ap"] < table[name]["acoustic_ap"] <= 1
        assert "cross_view_ap" not in table[name]


def test_without_noise_or_some_corpora_the_rest_is_measured(
    data: Path, checkpoints: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (data / "sounds/manifest.csv").unlink()
    row = evaluate(data, checkpoints, "all", quick=True)[-1]
    assert "nothing is measured in noise" in capsys.readouterr().out
    assert row["acoustic_ap_far"] == pytest.approx(1)
    assert "acoustic_ap_0db" not in row


def test_time_warping_of_too_many_recordings_takes_a_sample(
    data: Path, checkpoints: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systems.TimeWarping, "max_recordings", 10)
    rows = evaluate(data, checkpoints)
    assert [row.get("note") for row in rows] == ["10 of 12 recordings", None, None, None]


def test_time_warping_does_not_mind_the_pace() -> None:
    time = np.arange(RATE // 2) / RATE
    fast = np.sin(2 * np.pi * (300 * time + 1500 * time**2)).astype(np.float32)
    slow = np.interp(np.arange(0, len(fast), 0.8), np.arange(len(fast)), fast).astype(np.float32)
    warping = systems.TimeWarping()
    alike = warping.similarity(warping.encode([fast, slow, fast[::-1].copy()]))
    assert alike[0, 1] > alike[0, 2] + 0.1


def test_noise_has_the_asked_ratio_and_the_room_a_tail() -> None:
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


def test_publishing_fills_metrics_and_the_card(data: Path, checkpoints: list[Path]) -> None:
    rows = evaluate(data, checkpoints, "all", quick=True)
    folder = checkpoints[-1]
    validation = {"words": {"cross_view_ap": 0.5}}
    metrics = {"training_hours": {"words": 1.25}, "validation": validation}
    (folder / "metrics.json").write_text(json.dumps(metrics))
    near = folder.with_name("words-near")
    copytree(folder, near)
    publish(rows, folder.parent)
    assert json.loads((folder / "metrics.json").read_text())["results"] == rows
    assert "| words (default) " in (near / "README.md").read_text()
    card = (folder / "README.md").read_text()
    assert "1.2 hours" in card
    assert "| words (default) " in card
    assert "![Precision over recall" in card
    assert "## Training" in card


def test_a_word_type_is_its_sound_in_its_language() -> None:
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
