"""The library of words: files, search, map coordinates."""

import json
from pathlib import Path

import numpy as np
import pytest

from earshot.core.errors import InputError
from earshot.systems.words.library import (
    ABOUT,
    ARRAYS,
    LibraryWord,
    Projection,
    View,
    WordLibrary,
)

DIMENSIONS = 8


@pytest.fixture
def library(tmp_path: Path) -> WordLibrary:
    """Twenty words in two voices, and written."""
    rng = np.random.default_rng(0)
    words, vectors = [], []
    for number in range(20):
        word = rng.standard_normal(DIMENSIONS)
        for voice in ("one", "other", None):
            path = tmp_path / "words" / f"w{number}-{voice}.ogg" if voice else None
            id = f"English:w{number}:{voice or 'written'}"
            words.append(LibraryWord(id, f"w{number}", ("k", "æ"), "English", voice, path, "gloss"))
            vectors.append(word + 0.1 * rng.standard_normal(DIMENSIONS))
    unit = np.stack(vectors) / np.linalg.norm(vectors, axis=1, keepdims=True)
    axes = np.eye(DIMENSIONS)[:, :2]
    places = unit @ axes
    projection = Projection(np.zeros(DIMENSIONS), axes, places.min(axis=0), places.max(axis=0))
    tsne = rng.uniform(size=(60, 2))
    trust = {"pca": 0.8, "tsne": 0.9}
    return WordLibrary(words, unit, projection, tsne, trust, "model")


@pytest.fixture
def folder(library: WordLibrary, tmp_path: Path) -> Path:
    library.save(tmp_path / "words.index", tmp_path / "words")
    return tmp_path / "words.index"


def test_open_restores_what_save_wrote(library: WordLibrary, folder: Path) -> None:
    opened = WordLibrary.open(folder, "model")
    assert [vars(word) for word in opened.words] == [vars(word) for word in library.words]
    assert np.allclose(opened.vectors, library.vectors, atol=1 / 250)  # 8 bits
    assert np.allclose(np.linalg.norm(opened.vectors, axis=1), 1, atol=1e-6)
    assert opened.vectors.dtype == np.float32
    assert opened.trustworthiness == {"pca": 0.8, "tsne": 0.9}
    for layout in ("pca", "tsne"):
        assert np.allclose(opened.places(layout), library.places(layout), atol=5e-3)


def test_moved_library_finds_its_sounds(folder: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    folder.rename(moved / "words.index")
    path = WordLibrary.open(moved / "words.index", "model").words[0].path
    assert path == moved / "words" / "w0-one.ogg"


def test_search_of_each_view_is_exact(library: WordLibrary) -> None:
    assert len(library.spoken) == 40 and len(library.written) == 20
    views: dict[View, np.ndarray] = {"spoken": library.spoken, "written": library.written}
    for view, rows in views.items():
        query = library.vectors[rows[7]]
        cosines, nearest = library.search(query, view, limit=10)
        assert nearest[0] == rows[7] and cosines[0] == pytest.approx(1, abs=1e-3)
        assert set(nearest) <= set(rows) and len(nearest) == 10
        exact = np.sort(library.vectors[rows] @ query)[::-1][:10]
        assert np.allclose(cosines, exact, atol=1e-5)


@pytest.mark.parametrize("layout", ["pca", "tsne"])
def test_place_stays_on_map(library: WordLibrary, layout: str) -> None:
    """It moves nothing, and puts a vector equal to a word's where the word is (PCA)."""
    before = library.places(layout).copy()
    assert before.shape == (60, 2) and before.min() >= 0 and before.max() <= 1
    rng = np.random.default_rng(1)
    far = rng.standard_normal(DIMENSIONS).astype(np.float32)
    assert all(0 <= value <= 1 for value in library.place(far / np.linalg.norm(far), layout))
    if layout == "pca":
        assert np.allclose(library.place(library.vectors[5], layout), before[5], atol=1e-5)
    assert np.array_equal(library.places(layout), before)


def test_place_by_tsne_is_between_neighbours(library: WordLibrary) -> None:
    cosines = library.vectors @ library.vectors[6]
    near = library.places("tsne")[np.argsort(-cosines)[:5]]
    x, y = library.place(library.vectors[6], "tsne")
    assert near[:, 0].min() <= x <= near[:, 0].max()
    assert near[:, 1].min() <= y <= near[:, 1].max()


def test_open_of_another_models_library_raises(folder: Path) -> None:
    with pytest.raises(InputError, match="Another model"):
        WordLibrary.open(folder, "another")


def test_missing_or_damaged_library_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no library"):
        WordLibrary.open(tmp_path / "nothing", "model")
    table = (folder / "words.csv").read_text(encoding="utf-8")
    (folder / "words.csv").write_text(table[: table.rfind(",w19")], encoding="utf-8")
    with pytest.raises(InputError, match="damaged"):
        WordLibrary.open(folder, "model")
    (folder / "words.csv").write_text(table, encoding="utf-8")
    (folder / ARRAYS).write_bytes(b"PK no zip")
    with pytest.raises(InputError, match="damaged"):
        WordLibrary.open(folder, "model")
    (folder / ABOUT).write_text(json.dumps({"fingerprint": "model"}))
    with pytest.raises(InputError, match="damaged"):
        WordLibrary.open(folder, "model")
