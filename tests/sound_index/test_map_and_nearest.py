"""Places of few and many sounds on the map, and the nearest of many vectors."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.support.fake_sound_encoder import WORDS, FakeEncoder, write_tone
from earshot.core.files import replacing
from earshot.sound_index import nearest
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.nearest import map_layout
from tests.sound_index.indexes import clusters, names

pytestmark = pytest.mark.slow


def test_layout_places_similar_sounds_together(tmp_path: Path, encoder: FakeEncoder) -> None:
    paths = [
        write_tone(tmp_path / f"{word}{n}.wav", word, seconds=1 + n / 10, level=0.1 + n / 50)
        for word in WORDS
        for n in range(8)
    ]
    index, again = SoundIndex.empty(encoder), SoundIndex.empty(encoder)
    index.add(paths)
    again.add(paths)
    places = index.layout()
    assert places.shape == (40, 2) and places.min() == 0 and places.max() == 1
    np.testing.assert_array_equal(places, again.layout())
    distance = np.linalg.norm(places[:, None] - places[None], axis=-1)
    same = np.repeat(np.arange(5), 8)[:, None] == np.repeat(np.arange(5), 8)[None]
    assert distance[same].mean() < 0.5 * distance[~same].mean()


@pytest.mark.parametrize("count", range(10))
def test_layout_of_few_sounds_is_finite(count: int) -> None:
    vectors = np.eye(12, 6, dtype=np.float32)[:count] + 1
    places = map_layout(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    assert places.shape == (count, 2) and np.isfinite(places).all()
    assert ((places >= 0) & (places <= 1)).all()


def test_layout_of_many_stays_in_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "ANCHORS", 50)
    places = map_layout(clusters(300))
    assert places.shape == (300, 2) and ((places >= 0) & (places <= 1)).all()


def test_nearest_of_many_has_exact_scores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Which vectors it finds is approximate."""
    monkeypatch.setattr(nearest, "MAX_EXACT", 1000)
    monkeypatch.setattr(nearest, "LIST_SIZE", 100)
    monkeypatch.setattr(nearest, "N_PROBES", 10)
    vectors = clusters(5000)
    large = nearest.Nearest(vectors)
    assert not large.exact and nearest.Nearest(vectors[:1000]).exact
    right = 0
    for query in clusters(5040)[-40:]:
        scores, rows = large.search(query, 10)
        np.testing.assert_allclose(scores, vectors[rows] @ query, atol=1e-6)
        assert (np.diff(scores) <= 0).all()
        right += len(set(rows) & set(np.argsort(-vectors @ query)[:10]))
    assert right >= 0.95 * 40 * 10
    with replacing(tmp_path / "lists") as file:
        large.write(Path(file.name))
    again = nearest.Nearest.read(tmp_path / "lists", vectors)
    for mine, theirs in zip(
        again.search(vectors[7], 20), large.search(vectors[7], 20), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
    with pytest.raises(ValueError, match="other vectors"):
        nearest.Nearest.read(tmp_path / "lists", vectors[1:])
    more = nearest.Nearest(clusters(5500), like=large)
    assert more.search(clusters(5500)[-1], 1)[1][0] == 5499


def test_search_of_large_library_finds_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, encoder: FakeEncoder
) -> None:
    """A long file whose segments all are near must not hide the others; and it can be saved."""
    monkeypatch.setattr(nearest, "MAX_EXACT", 20)
    monkeypatch.setattr(nearest, "LIST_SIZE", 20)
    monkeypatch.setattr("earshot.sound_index.library.POOL", 4)
    index = SoundIndex.empty(encoder)
    long = write_tone(tmp_path / "long.wav", *(30 * ["low"]), seconds=10)
    others = [write_tone(tmp_path / f"{word}.wav", word, "low", seconds=1) for word in WORDS]
    index.add([long, *others])
    assert not index.library.nearest.exact
    assert set(names(index, "low", 4)) > {"long.wav", "low.wav"}
    index.save(tmp_path / "index")
    again = SoundIndex.open(tmp_path / "index", encoder)
    assert not again.library.nearest.exact
    assert names(again, "low") == names(index, "low")
    again.remove([sound.id for sound in again.sounds if sound.name == "long.wav"])
    again.save(tmp_path / "index")
    assert again.library.nearest.exact
    assert not list((tmp_path / "index").glob("nearest-*"))
