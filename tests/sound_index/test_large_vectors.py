"""Vectors that stay on the disk: the nearest of many are found, and rows are read anywhere."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.index_scale.engines import ENGINES, sound_id
from benchmarks.index_scale.vectors import NEAREST, pieces, questions
from benchmarks.support.fake_sound_encoder import FakeEncoder
from earshot.core.errors import InputError
from earshot.sound_index import nearest
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.library import Library
from earshot.sound_index.sound import Entry, Sound
from earshot.sound_index.stored import ArrayWriter, StoredArray
from tests.sound_index.indexes import clusters


class Wide(FakeEncoder):
    dimension = 64


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Vectors (4000, D), of which 1000 are few enough to be compared one by one."""
    monkeypatch.setattr(nearest, "MAX_EXACT", 1000)
    monkeypatch.setattr("earshot.sound_index.disk.MAX_EXACT", 1000)
    monkeypatch.setattr("earshot.sound_index.library.MAX_EXACT", 1000)
    return clusters(4000, Wide.dimension)


def entries_of(vectors: np.ndarray) -> list[Entry]:
    """A sound of a segment for each vector."""
    return [
        Entry(
            Sound(f"{n:04}", Path(f"/{n}.wav"), f"{n}.wav", "", str(n % 2), 1.0, f"{n:064}"),
            vectors[n : n + 1],
            vectors[n : n + 1].astype(np.float16),
        )
        for n in range(len(vectors))
    ]


@pytest.mark.parametrize("backend", ["memory", "disk"])
def test_lists_of_other_bytes_are_damaged(few: np.ndarray, tmp_path: Path, backend: str) -> None:
    library = Library(entries_of(few), nearest.Nearest(few), np.zeros((len(few), 2)))
    SoundIndex(Wide(), library).save(tmp_path, backend)
    assert not SoundIndex.open(tmp_path, Wide()).library.nearest.exact
    path = next(tmp_path.glob("nearest-*.faiss"))
    content = bytearray(path.read_bytes())
    content[-1000:] = np.random.default_rng(0).bytes(1000)
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        SoundIndex.open(tmp_path, Wide())
    # As an index of an earlier version has it: the hash is that of the vectors.
    vectors = next(tmp_path.glob("vectors-*.npy")).stem.rpartition("-")[2]
    path.rename(tmp_path / f"nearest-{vectors}.faiss")
    manifest = tmp_path / "index.json"
    manifest.write_text(manifest.read_text().replace(path.name, f"nearest-{vectors}.faiss"))
    assert len(SoundIndex.open(tmp_path, Wide()).sounds) == len(few)


def test_large_disk_index_finds_nearest(few: np.ndarray, tmp_path: Path) -> None:
    """It finds nearly all of them among many vectors."""
    vectors, entries = few, entries_of(few)
    library = Library(entries, nearest.Nearest(vectors[:1]), np.zeros((len(vectors), 2)))
    SoundIndex(Wide(), library).save(tmp_path / "index", "disk")
    index = SoundIndex.open(tmp_path / "index", Wide())
    assert not index.library.nearest.exact
    odd = np.arange(len(vectors)) % 2 == 1
    right = 0
    for query in clusters(4040, Wide.dimension)[-40:]:
        scores = vectors @ query
        ranked = index.search(query, 10)
        best = set(np.argsort(-scores)[:10])
        right += len(best & {int(sound.id) for sound, _, _ in ranked})
        for sound, score, _ in ranked:
            assert score == pytest.approx(scores[int(sound.id)], abs=1e-5)
        among = index.library.find(query, 10, odd)
        assert (among.numbers % 2 == 1).all() and len(among.numbers) >= 10
        best = odd.nonzero()[0][np.argmax(scores[odd])]
        assert best == among.numbers[0]
    assert right >= 0.95 * 40 * 10


@pytest.mark.parametrize("engine", ENGINES)
def test_measured_engines_find_nearest(engine: str, tmp_path: Path) -> None:
    if engine == "lancedb":
        pytest.importorskip("lancedb", reason="needs requirements-scale.txt")
    write, opened = ENGINES[engine]
    write(tmp_path / "index", pieces(3000))
    search = opened(tmp_path / "index")
    queries, exact = questions(tmp_path, 3000)
    right = [
        len(set(search(query)) & {sound_id(row) for row in rows}) / NEAREST
        for query, rows in zip(queries, exact, strict=True)
    ]
    assert np.mean(right) >= 0.95


def test_stored_array_reads_rows_anywhere(tmp_path: Path) -> None:
    rows = np.arange(300, dtype=np.float32).reshape(100, 3)
    writer = ArrayWriter(tmp_path / "a.npy", 3, np.float32)
    for begin in range(0, 100, 7):
        writer.append(rows[begin : begin + 7])
    writer.close()
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), rows)
    stored = StoredArray(tmp_path / "a.npy")
    for chosen in ([], [5], [3, 4, 5, 9, 99], [9, 3, 3, 98, 99]):
        numbers = np.array(chosen, int)
        np.testing.assert_array_equal(stored[numbers], rows[numbers])
    np.testing.assert_array_equal(stored[90:200], rows[90:])
    assert stored[5:5].shape == stored[7:3].shape == (0, 3)
    np.testing.assert_allclose(stored @ rows[2], rows @ rows[2])
    np.testing.assert_array_equal(np.concatenate([*stored.blocks(30)]), rows)
