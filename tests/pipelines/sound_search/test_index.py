"""The index: what it holds, that it embeds nothing twice, and that it is never half written."""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile

from media.errors import InputError
from media.files import replacing
from media.paths import ROOT
from pipelines import map_layout, nearest
from pipelines.sound_search import store
from pipelines.sound_search.index import Report, SoundIndex
from pipelines.sound_search.library import Description
from pipelines.sound_search.scan import CAPTIONS, read_captions, scan
from pipelines.sound_search.watch import watch
from tests.fake_sound_encoder import RATE, WORDS, FakeEncoder, tone, write_tone

pytestmark = pytest.mark.slow


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a tone of each octave."""
    for word in WORDS:
        write_tone(tmp_path / "sounds" / f"{word}.wav", word)
    return tmp_path / "sounds"


@pytest.fixture
def index(folder: Path, encoder: FakeEncoder) -> SoundIndex:
    index = SoundIndex.empty(encoder)
    index.add(sorted(folder.iterdir()))
    return index


def names(index: SoundIndex, text: str, limit: int = 10) -> list[str]:
    query = index.encoder.embed_text([text])[0]
    return [sound.name for sound, _, _ in index.search(query, limit)]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_index_search_ranks_the_described_sound_first(index: SoundIndex) -> None:
    for word in WORDS:
        assert names(index, word, limit=1) == [f"{word}.wav"]
    assert len(names(index, "low")) == len(WORDS)
    assert len(names(index, "low", limit=3)) == 3


def test_index_add_describes_each_sound(index: SoundIndex) -> None:
    low = next(sound for sound in index.sounds if sound.name == "low.wav")
    assert low.seconds == pytest.approx(2.0)
    assert low.path.name == "low.wav" and low.path.is_absolute()
    assert len(low.content_hash) == 64
    assert index[low.id] == low and low.id in index
    assert (low.kind, low.caption) == ("", "")


def test_per_second_scores_cover_every_second(tmp_path: Path, encoder: FakeEncoder) -> None:
    """25 s are three segments of 8.3 s: the last seconds count like all others."""
    path = write_tone(tmp_path / "a.wav", *(5 * ["low"]), "high", "deep", seconds=3.6)
    index = SoundIndex.empty(encoder)
    index.add([path])
    (sound,) = index.sounds
    assert sound.seconds == pytest.approx(25.2)
    for word, begin, end in (("low", 0, 18), ("high", 19, 21), ("deep", 22, 26)):
        scores = index.per_second_scores(sound.id, encoder.embed_text([word])[0])
        assert scores.shape == (26,) and scores.dtype == np.float32
        assert scores[begin:end].min() > 0.9
        outside = [*scores[: max(begin - 1, 0)], *scores[end + 1 :]]
        assert max(outside) < 0.1
    _, score, segment = index.search(encoder.embed_text(["deep"])[0])[0]
    assert segment == 2 and 0.5 < score < 1


def test_index_add_of_very_long_and_short_sounds_finds_both(
    tmp_path: Path, encoder: FakeEncoder
) -> None:
    path = tmp_path / "hour.flac"
    hour = np.tile(tone("low", seconds=1), 3600)
    hour[1800 * RATE : 1801 * RATE] = tone("shrill", seconds=1)
    soundfile.write(path, hour, RATE)
    index = SoundIndex.empty(encoder)
    report = index.add([path, write_tone(tmp_path / "moment.wav", "high", seconds=0.05)])
    assert report.skipped == ()
    query = encoder.embed_text(["shrill"])[0]
    sound, _, segment = index.search(query)[0]
    assert (sound.name, segment) == ("hour.flac", 180)
    scores = index.per_second_scores(sound.id, query)
    assert scores.shape == (3600,) and scores.argmax() == 1800
    assert names(index, "high", 1) == ["moment.wav"]


def test_index_add_names_unusable_files(tmp_path: Path, encoder: FakeEncoder) -> None:
    good = write_tone(tmp_path / "good.wav", "low")
    silent = write_tone(tmp_path / "silent.wav", "low", level=0.0)
    broken = tmp_path / "broken.mp3"
    broken.write_text("not a sound\n" * 100)
    missing = tmp_path / "missing.wav"
    index = SoundIndex.empty(encoder)
    report = index.add([broken, good, missing, silent])
    assert report.added == 1 and [sound.name for sound in index.sounds] == ["good.wav"]
    reasons = dict(report.skipped)
    assert "cannot be read as audio" in reasons["broken.mp3"]
    assert "silent" in reasons["silent.wav"]
    assert "No such file" in reasons["missing.wav"]


def test_index_add_of_one_file_name_twice_keeps_both(tmp_path: Path, encoder: FakeEncoder) -> None:
    """Two visitors' recordings, and even the same recording in two places: all stay."""
    paths = [
        write_tone(tmp_path / "a" / "recording.wav", "low"),
        write_tone(tmp_path / "b" / "recording.wav", "high"),
        write_tone(tmp_path / "c" / "recording.wav", "low"),
    ]
    index = SoundIndex.empty(encoder)
    assert index.add(paths).added == 3
    assert len({sound.id for sound in index.sounds}) == 3
    assert [sound.path for sound in index.sounds] == paths
    assert encoder.calls == 2


def test_index_add_again_embeds_only_changed_files(
    index: SoundIndex, folder: Path, encoder: FakeEncoder
) -> None:
    before = {sound.name: sound.id for sound in index.sounds}
    calls = encoder.calls
    assert index.add(folder.iterdir()).unchanged == len(WORDS)
    assert encoder.calls == calls
    write_tone(folder / "low.wav", "high", seconds=3)
    shutil.copy(folder / "deep.wav", folder / "copy.wav")
    report = index.add(folder.iterdir())
    assert (report.added, report.unchanged) == (2, len(WORDS) - 1)
    assert encoder.calls == calls + 1
    after = {sound.name: sound.id for sound in index.sounds}
    assert after["low.wav"] != before["low.wav"] and after["deep.wav"] == before["deep.wav"]
    assert set(names(index, "high", 2)) == {"high.wav", "low.wav"}


def test_index_add_of_new_captions_embeds_nothing(
    index: SoundIndex, folder: Path, encoder: FakeEncoder
) -> None:
    calls, places = encoder.calls, index.layout()
    index.add([folder / "low.wav"], {"low.wav": Description("hum", "A low hum")})
    index.add([folder / "low.wav"])
    low = next(sound for sound in index.sounds if sound.name == "low.wav")
    assert (low.kind, low.caption) == ("hum", "A low hum")
    assert encoder.calls == calls and index.layout() is places


def test_index_remove_keeps_the_layout_of_the_rest(index: SoundIndex) -> None:
    low = next(sound for sound in index.sounds if sound.name == "low.wav")
    place = {s.name: tuple(p) for s, p in zip(index.sounds, index.layout(), strict=True)}
    index.remove([low.id, "no such id"])
    assert "low.wav" not in names(index, "low") and len(index.sounds) == len(WORDS) - 1
    assert place.pop("low.wav")
    assert place == {s.name: tuple(p) for s, p in zip(index.sounds, index.layout(), strict=True)}
    for word in ("deep", "shrill"):
        assert names(index, word, 1) == [f"{word}.wav"]
    with pytest.raises(InputError, match="no longer in the library"):
        index.per_second_scores(low.id, np.zeros(6, np.float32))
    index.remove([sound.id for sound in index.sounds])
    assert index.sounds == () and index.layout().shape == (0, 2)


def test_index_add_when_cancelled_changes_nothing(index: SoundIndex, tmp_path: Path) -> None:
    new = [write_tone(tmp_path / f"{n}.wav", "low", seconds=1 + n) for n in range(3)]

    def cancel(done: int, total: int, name: str) -> None:
        assert (total, name) == (3, f"{done}.wav")
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.add(new, progress=cancel)
    assert len(index.sounds) == len(WORDS)


def test_index_open_restores_what_save_wrote(index: SoundIndex, tmp_path: Path) -> None:
    low = Description("hum", "A low “hum”, naïve", "CC0", ("field", "a, b"))
    index.add([tmp_path / "sounds" / "low.wav"], {"low.wav": low})
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


def test_index_emptied_can_be_saved_and_filled_again(index: SoundIndex, tmp_path: Path) -> None:
    index.save(tmp_path / "index")
    index.remove([sound.id for sound in index.sounds])
    index.save(tmp_path / "index")
    again = SoundIndex.open(tmp_path / "index", FakeEncoder())
    assert again.sounds == ()
    again.add([tmp_path / "sounds" / "low.wav"])
    assert len(again.sounds) == 1


def test_index_open_after_moving_the_folder_finds_the_sounds(
    index: SoundIndex, tmp_path: Path
) -> None:
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


def test_index_open_of_a_missing_or_damaged_index_raises(index: SoundIndex, tmp_path: Path) -> None:
    saved = tmp_path / "index"
    for place in (saved, tmp_path / "sounds" / "low.wav"):
        with pytest.raises(InputError, match="no index.*pipelines.sound_search index"):
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


def test_index_save_when_interrupted_leaves_the_old_index(
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
            patch.setattr(store.os, "replace", fail)
            with pytest.raises(OSError, match="disk full"):
                index.save(saved)
        assert len(SoundIndex.open(saved, FakeEncoder()).sounds) == len(WORDS)
        for path in saved.glob("*-*.npy"):  # what was written already must not help the next try
            if path.name not in json.loads((saved / "index.json").read_text())["files"].values():
                path.unlink()
    index.save(saved)
    assert len(SoundIndex.open(saved, FakeEncoder()).sounds) == len(WORDS) - 1
    assert len(list(saved.iterdir())) == 4


def test_index_open_during_saves_reads_a_complete_index(index: SoundIndex, tmp_path: Path) -> None:
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
    places = map_layout.layout(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    assert places.shape == (count, 2) and np.isfinite(places).all()
    assert ((places >= 0) & (places <= 1)).all()


def clusters(count: int, dimension: int = 32) -> np.ndarray:
    """Unit vectors around fifty centres: (count, dimension)."""
    generator = np.random.default_rng(0)
    centres = generator.normal(size=(50, dimension))
    vectors = centres[generator.integers(50, size=count)]
    vectors = vectors + 0.5 * generator.normal(size=vectors.shape)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_layout_of_many_sounds_is_in_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_layout, "ANCHORS", 50)
    places = map_layout.layout(clusters(300))
    assert places.shape == (300, 2) and ((places >= 0) & (places <= 1)).all()


def test_nearest_of_many_vectors_is_approximate_with_exact_scores(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(nearest, "EXACT_LIMIT", 1000)
    monkeypatch.setattr(nearest, "LIST_SIZE", 100)
    monkeypatch.setattr(nearest, "PROBED", 10)
    vectors = clusters(5000)
    large = nearest.Nearest(vectors)
    assert not large.exact and nearest.Nearest(vectors[:1000]).exact
    found = 0
    for query in clusters(5040)[-40:]:
        scores, rows = large.search(query, 10)
        np.testing.assert_allclose(scores, vectors[rows] @ query, atol=1e-6)
        assert (np.diff(scores) <= 0).all()
        found += len(set(rows) & set(np.argsort(-vectors @ query)[:10]))
    assert found >= 0.95 * 40 * 10
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


def test_index_search_of_a_large_library_finds_enough_sounds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, encoder: FakeEncoder
) -> None:
    """A long file whose segments all are near must not hide the others; and it can be saved."""
    monkeypatch.setattr(nearest, "EXACT_LIMIT", 20)
    monkeypatch.setattr(nearest, "LIST_SIZE", 20)
    monkeypatch.setattr("pipelines.sound_search.library.POOL", 4)
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


def test_scan_updates_the_index_of_a_folder(folder: Path, encoder: FakeEncoder) -> None:
    out = folder.with_name("sounds.index")
    (folder / "captions.csv").write_text("file,kind,caption\nlow.wav,hum,A low hum | It hums\n")
    (folder / ".hidden.wav").write_text("no sound")
    (folder / "notes.txt").write_text("no sound")
    write_tone(folder / "deeper" / "high.wav", "high", seconds=1)
    report = scan(folder, out, encoder)
    assert (report.added, report.unchanged, report.removed) == (len(WORDS) + 1, 0, 0)
    assert [name for name, _ in report.skipped] == ["notes.txt"]
    low = next(s for s in SoundIndex.open(out, encoder).sounds if s.name == "low.wav")
    assert (low.kind, low.caption) == ("hum", "A low hum")
    calls = encoder.calls
    (folder / "notes.txt").unlink()
    (folder / "deep.wav").unlink()
    write_tone(folder / "low.wav", "low", seconds=4)
    report = scan(folder, out, encoder)
    assert (report.added, report.unchanged, report.removed) == (1, len(WORDS) - 1, 1)
    assert report.skipped == () and encoder.calls == calls + 1
    with pytest.raises(InputError, match="Another model"):
        scan(folder, out, FakeEncoder("other"))
    with pytest.raises(InputError, match="no folder"):
        scan(folder / "nowhere", out, encoder)


def test_scan_of_an_empty_or_a_huge_folder_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = tmp_path / "sounds", tmp_path / "index"
    folder.mkdir()
    with pytest.raises(InputError, match="no files"):
        scan(folder, out, FakeEncoder())
    names = (folder / f"{number}.wav" for number in range(1_000_000))
    monkeypatch.setattr("pipelines.sound_search.scan.walk_files", lambda _: names)
    monkeypatch.setattr("pipelines.sound_search.scan.MOST_FILES", 2)
    with pytest.raises(InputError, match="more than 2 files, the most"):
        scan(folder, out, FakeEncoder())
    assert next(names).name == "3.wav", "the names beyond the limit are not read"
    assert not out.exists()


def test_scan_of_a_broken_zip_and_a_long_file_skips_them_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.sound_search.embedding.MAX_SECONDS", 5.0)
    folder = tmp_path / "sounds"
    write_tone(folder / "low.wav", "low")
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    write_tone(folder / "long.wav", "low", seconds=6.0)
    report = scan(folder, tmp_path / "index", FakeEncoder())
    reasons = dict(report.skipped)
    assert report.added == 1 and set(reasons) == {"broken.zip", "long.wav"}
    assert "cannot be read as audio" in reasons["broken.zip"]
    assert "longer than 5 s" in reasons["long.wav"]


def test_scan_after_being_killed_resumes(tmp_path: Path) -> None:
    count = 12
    for copy in ("whole", "killed"):
        for n in range(count):
            write_tone(tmp_path / copy / "sounds" / f"{n:02}.wav", WORDS[n % 5], seconds=1 + n / 7)
    scan(tmp_path / "whole" / "sounds", tmp_path / "whole" / "index", FakeEncoder())
    folder, out = tmp_path / "killed" / "sounds", tmp_path / "killed" / "index"
    code = (
        "import sys; from pathlib import Path; from pipelines.sound_search.scan import scan;"
        "from tests.fake_sound_encoder import FakeEncoder;"
        "scan(Path(sys.argv[1]), Path(sys.argv[2]), FakeEncoder(delay=0.3))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, folder, out], cwd=ROOT)
    while len(list(out.glob("partial-*/*.npz"))) < count // 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = len(list(out.glob("partial-*/*.npz")))
    assert done < count and not (out / "index.json").exists()
    encoder = FakeEncoder()
    report = scan(folder, out, encoder)
    assert report.added == count and encoder.calls == count - done
    assert contents(out) == contents(tmp_path / "whole" / "index")


def test_watch_follows_files_that_come_and_go(folder: Path) -> None:
    out = folder.with_name("sounds.index")
    reports: queue.Queue[Report | str] = queue.Queue()
    stop = threading.Event()
    watcher = threading.Thread(target=watch, args=(folder, out, FakeEncoder(), reports.put, stop))
    watcher.start()
    try:
        assert reports.get(timeout=60) == Report(len(WORDS), 0, 0, ())
        write_tone(folder.parent / "new.wav", "low", "high").rename(folder / "new.wav")
        assert reports.get(timeout=60) == Report(1, len(WORDS), 0, ())
        (folder / "new.wav").unlink()
        assert reports.get(timeout=60) == Report(0, len(WORDS), 1, ())
        (folder / CAPTIONS).write_text("name\nlow.wav\n")
        assert "no column" in str(reports.get(timeout=60)), "it says so, and goes on"
    finally:
        stop.set()
        watcher.join()
    assert len(SoundIndex.open(out, FakeEncoder()).sounds) == len(WORDS)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (b"name,kind,caption\nlow.wav,hum,A low hum\n", "no column 'file'"),
        (b"file,kind,caption\nlow.wav,\xff\xfe,A low hum\n", "UTF-8"),
    ],
)
def test_captions_that_cannot_be_read_are_refused_with_what_to_do(
    tmp_path: Path, table: bytes, said: str
) -> None:
    (tmp_path / CAPTIONS).write_bytes(table)
    with pytest.raises(InputError, match=said):
        read_captions(tmp_path / CAPTIONS)


def test_captions_with_a_short_row_or_a_mark_of_utf_8_are_read(tmp_path: Path) -> None:
    (tmp_path / CAPTIONS).write_text("\ufefffile,kind,caption\nlow.wav\n", encoding="utf-8")
    assert read_captions(tmp_path / CAPTIONS) == {"low.wav": Description()}


def test_captions_with_licence_and_tags_describe_by_them(tmp_path: Path) -> None:
    (tmp_path / CAPTIONS).write_text(
        "file,kind,caption,licence,tags\nlow.wav,hum,A hum | hum,CC BY 4.0,night | field |night\n"
    )
    expected = Description("hum", "A hum", "CC BY 4.0", ("night", "field"))
    assert read_captions(tmp_path / CAPTIONS) == {"low.wav": expected}
