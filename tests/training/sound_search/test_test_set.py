"""What is measured on: clips of a fold, mixtures of two sounds, and the queries."""

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.training.sound_search.tones import (
    QUESTIONS,
    RATE,
    TONES,
    ToneEncoder,
    write_manifest,
)
from training.sound_search.test_set import QUERIES, Budget, choose


def test_choose_by_fold_and_split(
    data: Path, queries: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The clips of the fold and split are given."""

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
    write_manifest(manifest.parent, rows)
    assert folds(None, "test") == {5: 12}
    assert "no fold 4" in capsys.readouterr().out


def test_choose_with_budget_samples_each_class(data: Path, queries: Path) -> None:
    clips, texts, mixtures = choose(data, queries, None, "all", Budget(clips=2, mixtures=3))
    assert Counter(clip.label for clip in clips) == dict.fromkeys(TONES, 2)
    assert len(texts) == 8
    assert len(mixtures) == 3
    again = choose(data, queries, None, "all", Budget(clips=2, mixtures=3))
    assert again == (clips, texts, mixtures)


def test_mixture_holds_both_sounds(data: Path, queries: Path) -> None:
    """The text of a mixture names both."""
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


def test_queries_cover_classes_and_styles() -> None:
    """Queries cover every class in every style."""
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
