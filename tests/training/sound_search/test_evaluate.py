"""Metrics of sound search against values by hand, and the whole table on a folder of tones."""

import csv
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pipelines.sound_search.encoders.encoder import AudioEmbedding
from pipelines.sound_search.languages import LANGUAGES
from training.evaluators.metrics import equal_error
from training.evaluators.report import publish_table
from training.sound_search.evaluate import evaluate as evaluation
from training.sound_search.evaluate import evaluator, languages
from training.sound_search.evaluate.card import publish
from training.sound_search.evaluate.evaluate import calibrate, evaluate, score
from training.sound_search.evaluate.evaluator import Evaluator
from training.sound_search.evaluate.material import QUERIES, Budget, choose
from training.sound_search.evaluate.ranking import (
    auroc,
    average_precision,
    best_scores,
    rank_metrics,
)

TONES = {"dog": 500, "cat": 1000, "sea_waves": 2000, "wind": 4000}  # Hz
RATE = 16_000
QUESTIONS = {
    "dog": ("a dog barks", "woof"),
    "cat": ("a cat meows", "purr"),
    "sea_waves": ("sea waves roll", "surf"),
    "wind": ("the wind blows", "gale"),
    "spaceship": ("a spaceship lands", "ufo"),
}


def one_hot(texts: Sequence[str]) -> np.ndarray:
    """Vectors with a one for each tone whose class or keyword is in the text."""
    words = {label: (label.split("_")[0], QUESTIONS[label][1]) for label in TONES}
    vectors = [[float(any(w in text for w in words[label])) for label in TONES] for text in texts]
    return np.array(vectors) / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)


class ToneEncoder:
    """An encoder of the tones, or an ensemble; members with "deaf" in their name give zeros."""

    def __init__(self, names: list[str]) -> None:
        self.sample_rate = RATE
        self.threshold = 0.5
        self.fingerprint = "ear"
        self.name = " + ".join(names)
        self.dimension = len(TONES) * len(names)
        self._gains = np.array([float("deaf" not in name) for name in names])

    @classmethod
    def from_pretrained(cls, folders: Sequence[Path]) -> "ToneEncoder":
        return cls([folder.name for folder in folders])

    def segments(self, waveform: np.ndarray) -> np.ndarray:
        return waveform[None]

    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        whole = self._each(self._amplitudes(segments))
        seconds = [self._each(self._amplitudes(s.reshape(-1, RATE))) for s in segments]
        return AudioEmbedding(whole, np.stack(seconds))

    def _amplitudes(self, sounds: np.ndarray) -> np.ndarray:
        spectrum = np.abs(np.fft.rfft(sounds, axis=1))
        bins = [round(hertz * sounds.shape[1] / RATE) for hertz in TONES.values()]
        return spectrum[:, bins] / np.linalg.norm(spectrum[:, bins], axis=1, keepdims=True)

    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        return self._each(one_hot(texts))

    def _each(self, vectors: np.ndarray) -> np.ndarray:
        parts = [gain * vectors for gain in self._gains]
        return np.concatenate(parts, axis=1) / np.sqrt(len(parts))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder: three tones of each class in each of folds 4 and 5, and one other sound."""
    root = tmp_path / "data" / "sounds"
    time = np.arange(RATE) / RATE
    rows = [{"path": "other/x.ogg", "set": "other", "label": "good year", "fold": ""}]
    for fold in (4, 5):
        for label, hertz in TONES.items():
            for number in range(3):
                path = Path("esc50_16k", f"fold{fold}", f"{label}-{number}.wav")
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                soundfile.write(root / path, 0.1 * np.sin(2 * np.pi * hertz * time), RATE)
                row = {"path": str(path), "set": "esc50_16k", "label": label, "fold": fold}
                rows.append(row)
    _write_manifest(root, rows)
    return tmp_path / "data"


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    path = tmp_path / "queries.jsonl"
    with path.open("w") as file:
        for label, (sentence, keyword) in QUESTIONS.items():
            for style, text in (("keywords", keyword), ("sentence", sentence)):
                row = {"query": text, "relevant_class": label, "style": style}
                file.write(json.dumps(row) + "\n")
    return path


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two folders with a config: of a working encoder, and of one that gives zeros."""
    monkeypatch.setattr(evaluation, "EarshotEncoder", ToneEncoder)
    monkeypatch.setattr(evaluation, "SentenceEncoder", lambda: one_hot)
    folders = [tmp_path / "checkpoints" / name for name in ("sound-deaf", "sound-ear")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({"folds": [1, 2, 3]}))
    return folders


def test_average_precision_of_known_ranks_is_exact() -> None:
    hits = np.array([[1, 0, 1, 0, 0], [0, 0, 0, 1, 0], [1, 1, 1, 0, 0]], bool)
    expected = [(1 + 2 / 3) / 2, 1 / 4, 1.0]
    np.testing.assert_allclose(average_precision(hits, 10), expected)
    # Only two of three can be among the first two: the divisor is 2 for the third query.
    np.testing.assert_allclose(average_precision(hits, 2), [1 / 2, 0, 1.0])


def test_rank_metrics_of_known_ranks_are_exact() -> None:
    scores = -np.arange(12.0)[None].repeat(2, axis=0)  # ranked as they stand
    relevant = np.zeros((2, 12), bool)
    relevant[0, [0, 3, 4]] = relevant[1, [7, 11]] = True
    values = rank_metrics(scores, relevant)
    assert {metric: value.tolist() for metric, value in values.items() if "m" not in metric} == {
        "R@1": [1, 0],
        "R@5": [1, 0],
        "R@10": [1, 1],
        "P@5": [3 / 5, 0],
    }
    assert values["mAP@10"][1] == pytest.approx(1 / 8 / 2)
    assert values["mAP@16"][1] == pytest.approx((1 / 8 + 2 / 12) / 2)


def test_best_scores_with_and_without_relevant_clips() -> None:
    scores = np.array([[0.9, 0.2, 0.4], [0.1, 0.3, 0.8]])
    relevant = np.array([[True, False, False], [False, True, False]])
    present, absent = best_scores(scores, relevant)
    assert present.tolist() == [0.9, 0.8]
    assert absent.tolist() == [0.4, 0.8]
    assert auroc(present, absent) == pytest.approx((1 + 1 + 1 + 1 / 2) / 4)


def test_equal_error_of_known_scores_is_exact() -> None:
    matches, others = np.array([0.9, 0.8, 0.7, 0.3]), np.array([0.6, 0.2, 0.1, 0.0])
    threshold, error = equal_error(matches, others)
    assert np.mean(matches < threshold) == np.mean(others >= threshold) == error == 1 / 4


@pytest.mark.slow
def test_evaluate_on_tones_gives_the_expected_table(
    data: Path,
    queries: Path,
    checkpoints: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evaluator, "FOUND", 1)  # of the few clips there are
    out = tmp_path / "table.json"
    rows = evaluate(data, checkpoints, queries, json_out=out)
    assert json.loads(out.read_text())["rows"] == rows
    table = {row["system"]: row for row in rows}
    ensemble = "sound-deaf + sound-ear"
    assert list(table) == ["chance", "text-only", "sound-deaf", "sound-ear", ensemble]
    assert [name for name, row in table.items() if row["shipped"]] == [ensemble]
    assert not any(row["seen"] for row in rows)
    # Three of twelve clips are right: chance finds one among the first ten nearly always.
    assert table["chance"]["R@1"] == pytest.approx(1 / 4, abs=0.05)
    assert table["chance"]["R@5"] == pytest.approx(1 - 9 * 8 * 7 * 6 * 5 / 95040, abs=0.05)
    assert table["chance"]["no_match_auroc"] == pytest.approx(1 / 2, abs=0.1)
    for name in ("text-only", "sound-ear", ensemble):
        row = table[name]
        perfect = ("mAP@10", "mAP@16", "R@1", "R@10", "R@1_keywords", "mAP@16_sentence")
        assert [row[metric] for metric in perfect] == pytest.approx([1.0] * len(perfect))
        assert row["P@5"] == pytest.approx(3 / 5)
        assert row["no_match_auroc"] == row["class_accuracy"] == 1
    for name in ("sound-ear", ensemble):
        row = table[name]
        assert row["mixture_R@1"] == row["both_found"] == row["order_right"] == 1
    assert table["sound-ear"]["no_match_error"] == 0
    assert table[ensemble]["no_match_error"] == 0.5  # a deaf half: no score is above 0.5
    assert table["sound-deaf"]["both_found"] == table["sound-deaf"]["mixture_R@1"] == 0


def test_languages_are_compared_with_english_on_the_same_clips(
    data: Path,
    queries: Path,
    checkpoints: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    translated = tmp_path / "translated.csv"
    meows = "a cat meows,eine Katze miaut,un chat miaule,un gato maúlla,猫叫,قطة تموء"
    translated.write_text(f"en,de,fr,es,zh,ar\n{meows}\n", encoding="utf-8")
    monkeypatch.setattr(languages, "TRANSLATED", translated)
    monkeypatch.setattr(languages, "QUERIES", queries)
    monkeypatch.setattr(languages, "EarshotEncoder", ToneEncoder)
    rows = {row["system"]: row for row in languages.evaluate_languages(data, checkpoints[1:])}
    assert len(rows) == 1 + 2 * len(LANGUAGES)
    assert rows["English"]["mAP@10"] == 1 and rows["German, as typed"]["mAP@10"] < 1
    for name in LANGUAGES.values():
        assert (
            rows[f"{name}, translated"]["mAP@10"] == rows[f"{name}, translated"]["recognised"] == 1
        )


@pytest.mark.slow
def test_evaluate_of_a_model_trained_on_the_clips_marks_it(
    data: Path, queries: Path, checkpoints: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (checkpoints[0] / "config.json").write_text(json.dumps({"folds": [1, 2, 3, 4]}))
    rows = evaluate(data, checkpoints, queries, quick=True)
    seen = [row["system"] for row in rows if row["seen"]]
    assert seen == ["text-only", "sound-deaf", "sound-deaf + sound-ear"]
    printed = capsys.readouterr().out
    assert printed.count("HAS SEEN") == 3
    with pytest.raises(SystemExit, match="Not published"):
        publish(rows, checkpoints, checkpoints[0].parent)
    assert not any(row["seen"] for row in evaluate(data, checkpoints, queries, fold=5))


def test_publish_fills_metrics_card_and_page(
    data: Path, queries: Path, checkpoints: list[Path], tmp_path: Path
) -> None:
    rows = evaluate(data, checkpoints, queries)
    shipped = tmp_path / "shipped"
    (shipped / "sound-ear").mkdir(parents=True)
    metrics = {"sha256": "0", "training_hours": {"first": 1.25, "second": 0.5}}
    (shipped / "sound-ear" / "metrics.json").write_text(json.dumps(metrics))
    config = {"network": {"trunk": {"channels": [8]}}}
    (shipped / "sound-ear" / "config.json").write_text(json.dumps(config))
    publish(rows, checkpoints, shipped)
    metrics = json.loads((shipped / "sound-ear" / "metrics.json").read_text())
    assert metrics["sha256"] == "0"
    assert metrics["results_trained_on_folds"] == [1, 2, 3]
    assert [row["system"] for row in metrics["results"]] == ["sound-ear", "sound-deaf + sound-ear"]
    card = (shipped / "sound-ear" / "README.md").read_text()
    assert "first 1.25, second 0.50; together 1.8" in card
    assert "convolutional" in card
    assert "| sound-ear " in card
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- sound results -->\nold\n<!-- /sound results -->\nafter\n")
    publish_table(rows, readme, "sound results")
    text = readme.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| sound-ear " in text


def test_choose_by_fold_and_split_gives_their_clips(
    data: Path, queries: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def folds(fold: int | None, split: str) -> Counter[int]:
        return Counter(clip.fold for clip in choose(data, queries, fold, split, Budget())[0])

    assert folds(None, "test") == {4: 12}
    assert folds(5, "test") == {5: 12}
    assert folds(None, "all") == {4: 12, 5: 12}
    assert "2 queries are left out" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no clips of fold 3"):
        folds(3, "test")
    manifest = data / "sounds" / "manifest.csv"
    with manifest.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["fold"] != "4"]
    _write_manifest(manifest.parent, rows)
    assert folds(None, "test") == {5: 12}
    assert "no fold 4" in capsys.readouterr().out


def test_choose_with_a_budget_samples_each_class(data: Path, queries: Path) -> None:
    clips, asked, mixtures = choose(data, queries, None, "all", Budget(clips=2, mixtures=3))
    assert Counter(clip.label for clip in clips) == dict.fromkeys(TONES, 2)
    assert len(asked) == 8
    assert len(mixtures) == 3
    again = choose(data, queries, None, "all", Budget(clips=2, mixtures=3))
    assert again == (clips, asked, mixtures)


def test_mixture_holds_both_sounds_and_its_text_names_them(data: Path, queries: Path) -> None:
    _, _, mixtures = choose(data, queries, None, "test", Budget())
    pairs = {frozenset(clip.label for clip in mixture.clips) for mixture in mixtures}
    assert len(pairs) == len(mixtures) == 6  # every pair of four classes, once
    for mixture in mixtures:
        assert [clip.label for clip in mixture.clips] == [q.label for q in mixture.queries]
        first, second = (QUESTIONS[clip.label][0] for clip in mixture.clips)
        joined = f"{first} while {second}" if mixture.simultaneous else f"{first}, then {second}"
        assert mixture.text == joined
        waveform = mixture.waveform(RATE)
        assert len(waveform) == (RATE if mixture.simultaneous else 2 * RATE)
        assert np.abs(waveform).max() <= 1
        vector = ToneEncoder(["ear"]).embed_audio(waveform[None]).vectors[0]
        present = [label in {clip.label for clip in mixture.clips} for label in TONES]
        np.testing.assert_allclose(vector, np.array(present) / np.sqrt(2), atol=0.02)
    assert {mixture.simultaneous for mixture in mixtures} == {True, False}


def test_calibrate_on_separable_scores_makes_no_error(
    data: Path, queries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "QUERIES", queries)
    ear = ToneEncoder(["ear"])
    threshold = calibrate(ear, data, 4)
    assert 0 < threshold <= 1
    library = Evaluator(*choose(data, queries, 4, "test", Budget()))
    scores = score(ear, library)
    assert library.no_match_error(scores, threshold) == 0
    assert library.no_match_error(scores, -0.1) == 1 / 2
    assert library.no_match_error(scores, 1.1) == 1 / 2


def test_queries_cover_every_class_in_every_style() -> None:
    rows = [json.loads(line) for line in QUERIES.read_text().splitlines()]
    assert len({row["query"] for row in rows}) == len(rows) >= 150
    counts = Counter((row["relevant_class"], row["style"]) for row in rows)
    classes = {row["relevant_class"] for row in rows}
    assert len(classes) == 50
    for label in classes:
        assert all(counts[label, style] >= 1 for style in ("sentence", "keywords", "indirect"))
    for row in rows:
        if row["style"] == "indirect":
            assert row["relevant_class"].replace("_", " ") not in row["query"].lower().split()


def _write_manifest(folder: Path, rows: list[dict]) -> None:
    with (folder / "manifest.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["path", "set", "label", "fold"])
        writer.writeheader()
        writer.writerows(rows)
