"""The saved index: opened again, moved, refused when damaged, and never half written."""

import json
import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from benchmarks.support.fake_sound_encoder import WORDS, FakeEncoder, write_tone
from earshot.core.errors import InputError
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.sound import Description
from tests.sound_index.indexes import contents, names

pytestmark = pytest.mark.slow


def test_index_open_restores_what_save_wrote(index: SoundIndex, tmp_path: Path) -> None:
    low = Description("hum", "A low “hum”, naïve", "CC0", ("field", "a, b"))
    index.add([tmp_path / "sounds" / "low.wav"], {tmp_path / "sounds" / "low.wav": low})
    index.save(tmp_path / "index")
    again = SoundIndex.open(tmp_path / "index", FakeEncoder())
    assert again.sounds == index.sounds
    assert low in [sound.description for sound in again.sounds]
    np.testing.assert_array_equal(again.layout(), index.layout())
    query = FakeEncoder().embed_text(["low middle"])[0]
    assert again.search(query) == index.search(query)
    first = again.sounds[0].id
    np.testing.assert_array_equal(
        again.per_second_scores(first, query), index.per_second_scores(first, query)
    )
    before = contents(tmp_path / "index")
    again.save(tmp_path / "index")
    assert contents(tmp_path / "index") == before


def test_emptied_index_can_be_filled_again(index: SoundIndex, tmp_path: Path) -> None:
    """It is saved and opened in between."""
    index.save(tmp_path / "index")
    index.remove([sound.id for sound in index.sounds])
    index.save(tmp_path / "index")
    again = SoundIndex.open(tmp_path / "index", FakeEncoder())
    assert again.sounds == ()
    again.add([tmp_path / "sounds" / "low.wav"])
    assert len(again.sounds) == 1


def test_moved_index_finds_its_sounds(index: SoundIndex, tmp_path: Path) -> None:
    elsewhere = write_tone(tmp_path.parent / f"{tmp_path.name}-elsewhere.wav", "low", seconds=1)
    index.add([elsewhere])
    index.save(tmp_path / "sounds.index")
    shutil.move(tmp_path, tmp_path.with_name(tmp_path.name + "-moved"))
    moved = tmp_path.with_name(tmp_path.name + "-moved")
    again = SoundIndex.open(moved / "sounds.index", FakeEncoder())
    assert {sound.path.parent for sound in again.sounds} == {moved / "sounds", elsewhere.parent}
    assert all(sound.path.exists() for sound in again.sounds)
    assert again.add((moved / "sounds").iterdir()).unchanged == len(WORDS)


def test_index_open_with_another_model_raises(index: SoundIndex, tmp_path: Path) -> None:
    index.save(tmp_path / "index")
    with pytest.raises(InputError, match="Another model.*octaves.*--sound-model.*delete"):
        SoundIndex.open(tmp_path / "index", FakeEncoder("other"))


def test_missing_or_damaged_index_is_refused(index: SoundIndex, tmp_path: Path) -> None:
    saved = tmp_path / "index"
    for place in (saved, tmp_path / "sounds" / "low.wav"):
        with pytest.raises(InputError, match="no index.*sounds index"):
            SoundIndex.open(place, FakeEncoder())
    index.save(saved)
    for path in sorted(saved.iterdir()):
        whole = path.read_bytes()
        for damaged in (b"", whole[: len(whole) // 2], b"[]", None):
            path.unlink() if damaged is None else path.write_bytes(damaged)
            with pytest.raises(InputError, match="damaged|no index"):
                SoundIndex.open(saved, FakeEncoder())
        path.write_bytes(whole)
    assert len(SoundIndex.open(saved, FakeEncoder()).sounds) == len(WORDS)


def test_index_opened_then_deleted_still_answers(index: SoundIndex, tmp_path: Path) -> None:
    index.save(tmp_path / "index")
    opened = SoundIndex.open(tmp_path / "index", FakeEncoder())
    shutil.rmtree(tmp_path / "index")
    shutil.rmtree(tmp_path / "sounds")
    assert names(opened, "high", 1) == ["high.wav"]
    assert opened.per_second_scores(opened.sounds[0].id, np.ones(6, np.float32)).shape == (2,)
    opened.save(tmp_path / "index")
    assert names(SoundIndex.open(tmp_path / "index", FakeEncoder()), "high", 1) == ["high.wav"]


def test_interrupted_save_leaves_old_index(
    index: SoundIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = tmp_path / "index"
    index.save(saved)
    index.remove([index.sounds[0].id])
    replace = os.replace

    def fail(source: Path, target: Path) -> None:
        left.pop()
        if not left:
            raise OSError("disk full")
        replace(source, target)

    for files in range(1, 5):  # three arrays and the manifest
        left = [*range(files)]
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", fail)
            with pytest.raises(OSError, match="disk full"):
                index.save(saved)
        assert len(SoundIndex.open(saved, FakeEncoder()).sounds) == len(WORDS)
        for path in saved.glob("*-*.npy"):  # what was written already must not help the next try
            if path.name not in json.loads((saved / "index.json").read_text())["files"].values():
                path.unlink()
    index.save(saved)
    assert len(SoundIndex.open(saved, FakeEncoder()).sounds) == len(WORDS) - 1
    assert len(list(saved.iterdir())) == 4


def test_index_opened_during_saves_is_complete(index: SoundIndex, tmp_path: Path) -> None:
    saved = tmp_path / "index"
    smaller = SoundIndex(index.encoder, index.library)
    smaller.remove([index.sounds[0].id])
    index.save(saved)
    stop = threading.Event()

    def keep_saving() -> None:
        while not stop.is_set():
            smaller.save(saved)
            index.save(saved)

    writer = threading.Thread(target=keep_saving)
    writer.start()
    try:
        sizes = [len(SoundIndex.open(saved, FakeEncoder()).sounds) for _ in range(200)]
    finally:
        stop.set()
        writer.join()
    assert set(sizes) <= {len(WORDS), len(WORDS) - 1}
