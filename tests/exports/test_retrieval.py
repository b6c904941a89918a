"""A comparison of embeddings: recordings of a word find each other, and captions their sounds."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.exports.comparison import Item
from earshot.exports.measures import FILE, read
from earshot.exports.retrieval import Retrieval, cosines


class Numbers:
    """An encoder of files that hold numbers; texts are numbers, too."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def encode(self, file: Path) -> np.ndarray:
        self.files.append(file.stem)
        if not file.read_text():
            raise InputError("This is empty.")
        return self.embed_text(file.read_text())

    def embed_text(self, text: str) -> np.ndarray:
        return np.array([float(number) for number in text.split()])

    def similarities(self, queries: Sequence[Any], items: Sequence[np.ndarray]) -> np.ndarray:
        return cosines(queries, items)


def items(folder: Path, **contents: str) -> list[Item]:
    folder.mkdir(exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_text(content)
    return [Item.of(folder / name) for name in contents]


def values(out: Path, measure: str) -> dict[str, float | None]:
    return {row.name: row.value for row in read(out / FILE) if row.measure == measure}


def test_recordings_of_a_word_find_each_other(tmp_path: Path) -> None:
    words = items(tmp_path / "in", tree_a="1 0", tree_b="1 0.1", sea_a="0 1", sea_b="1 0.2")
    out = tmp_path / "out"
    assert Retrieval(out, "words", {"ours": Numbers}, words, []).run() == 0
    assert values(out, "first_right") == {"tree_a": 1, "tree_b": 0, "sea_a": 1, "sea_b": 0}
    # From tree_b, nearer are sea_b and then tree_a; from sea_b, both trees are nearer than sea_a.
    precision = values(out, "average_precision")
    assert precision["tree_b"] == pytest.approx(1 / 2)
    assert precision["sea_b"] == pytest.approx(1 / 3, abs=1e-5)
    assert "Clusters are words" in (out / "measures.md").read_text()


def test_word_without_another_recording_is_no_query(tmp_path: Path) -> None:
    words = items(tmp_path / "in", tree_a="1 0", tree_b="1 0.1", sea_a="0 1")
    Retrieval(tmp_path / "out", "words", {"ours": Numbers}, words, []).run()
    assert {*values(tmp_path / "out", "average_precision")} == {"tree_a", "tree_b"}


def test_caption_finds_its_sound(tmp_path: Path) -> None:
    sounds = items(tmp_path / "in", rain="1 0", dog="0 1", bell="1 1")
    captions = {"rain": ["1 0.1"], "dog": ["1 0.9"]}
    systems = {"ours": Numbers}
    Retrieval(tmp_path / "out", "sounds", systems, sounds, [], captions=captions).run()
    assert values(tmp_path / "out", "first_right") == {"1 0.1": 1, "1 0.9": 0}
    assert values(tmp_path / "out", "average_precision")["1 0.9"] == pytest.approx(1 / 3, abs=1e-5)


def test_recording_is_encoded_once(tmp_path: Path) -> None:
    encoder = Numbers()
    systems: dict[str, Callable[[], Any]] = {"ours": lambda: encoder}
    words = items(tmp_path / "in", tree_a="1 0", tree_b="1 0.1")
    for _ in range(2):
        Retrieval(tmp_path / "out", "words", systems, words, []).run()
    assert encoder.files == ["tree_a", "tree_a", "tree_b"]
    assert len(values(tmp_path / "out", "average_precision")) == 2


def test_failures_are_rows_of_their_own_system(tmp_path: Path) -> None:
    class Broken(Numbers):
        def similarities(self, queries: Sequence[Any], items: Sequence[np.ndarray]) -> np.ndarray:
            raise ValueError("no such shape")

    words = items(tmp_path / "in", tree_a="1 0", tree_b="1 0.1", tree_c="")
    systems = {"ours": Numbers, "mine": Broken}
    assert Retrieval(tmp_path / "out", "words", systems, words, []).run() == 2
    errors = {(row.system, row.name): row.error for row in read(tmp_path / "out" / FILE)}
    assert errors["ours", "tree_c"] == "This is empty."
    assert errors["mine", ""] == "ValueError: no such shape"
    assert len(values(tmp_path / "out", "average_precision")) == 2
