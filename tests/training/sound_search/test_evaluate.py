"""The whole table of sound search on a folder of tones, and its publication."""

import json
from functools import partial
from pathlib import Path

import pytest

from earshot.systems.sound_search.translation import LANGUAGES
from tests.training.sound_search.tones import (
    ToneEncoder,
)
from training.common.report import publish_table, write_card
from training.sound_search import evaluate as evaluation
from training.sound_search import evaluator
from training.sound_search.evaluate import calibrate, evaluate, publish, score
from training.sound_search.evaluator import Evaluator
from training.sound_search.test_set import Budget, choose


@pytest.mark.slow
def test_evaluate_on_tones_gives_expected_table(
    data: Path,
    queries: Path,
    checkpoints: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evaluator, "MIXTURE_RANK", 1)  # of the few clips there are
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


def test_languages_are_compared_with_english(
    data: Path,
    queries: Path,
    checkpoints: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Languages are compared on the same clips."""
    translated = tmp_path / "translated.csv"
    meows = "a cat meows,eine Katze miaut,un chat miaule,un gato maúlla,猫叫,قطة تموء"
    translated.write_text(f"en,de,fr,es,zh,ar\n{meows}\n", encoding="utf-8")
    monkeypatch.setattr(evaluation, "TRANSLATED", translated)
    monkeypatch.setattr(evaluation, "QUERIES", queries)
    monkeypatch.setattr(evaluation, "EarshotEncoder", ToneEncoder)
    rows = {row["system"]: row for row in evaluation.evaluate_languages(data, checkpoints[1:])}
    assert len(rows) == 1 + 2 * len(LANGUAGES)
    assert rows["English"]["mAP@10"] == 1 and rows["German, as typed"]["mAP@10"] < 1
    for name in LANGUAGES.values():
        assert (
            rows[f"{name}, translated"]["mAP@10"] == rows[f"{name}, translated"]["recognised"] == 1
        )


@pytest.mark.slow
def test_evaluate_marks_model_of_same_clips(
    data: Path, queries: Path, checkpoints: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A model trained on the clips is marked."""
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
    data: Path,
    queries: Path,
    checkpoints: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evaluation, "write_card", partial(write_card, name="sound-cnn"))
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


def test_calibrate_on_separable_scores_errs_nowhere(
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
