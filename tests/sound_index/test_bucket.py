"""Sounds in a bucket: the same index as of a folder, fetched once, and played by the page."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.support.fake_sound_encoder import WORDS, FakeEncoder, write_tone
from earshot.cli.sounds import main
from earshot.core.errors import InputError
from earshot.sound_index import bucket
from earshot.sound_index.address import UnreachableError, index_of, name_of
from earshot.sound_index.files import folder_of
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.scan import scan, watch
from earshot.sound_index.sound import Sound
from earshot.systems.sound_search import SoundSearch
from tests.support.buckets import FakeBuckets, fake_buckets

URI = "s3://library/tones?endpoint_override=localhost%3A9000&scheme=http"


@pytest.fixture
def buckets(tmp_path: Path) -> Iterator[FakeBuckets]:
    with fake_buckets(tmp_path / "buckets") as buckets:
        yield buckets


@pytest.fixture
def tones(buckets: FakeBuckets) -> Path:
    """What is in the bucket: tones, one of them twice, captions, and what is no sound."""
    tones = buckets.root / "library" / "tones"
    for word in WORDS:
        write_tone(tones / "all" / f"{word} tone.wav", word)
    shutil.copy(tones / "all" / "low tone.wav", tones / "copy.wav")
    write_tone(tones / ".hidden" / "a.wav", "low")
    (tones / "broken.wav").write_text("no sound")
    (tones / "captions.csv").write_text("file,kind,caption\nlow tone.wav,hum,A low tone.\n")
    return tones


@pytest.mark.parametrize("backend", ["memory", "disk"])
def test_bucket_is_indexed_like_folder(
    tones: Path, tmp_path: Path, encoder: FakeEncoder, backend: str
) -> None:
    plain = scan(tones, tmp_path / "plain", encoder, backend=backend)
    fetched = scan(folder_of(URI), tmp_path / "fetched", encoder, backend=backend)
    for report in (plain, fetched):
        assert (report.added, report.removed) == (6, 0)
        assert [path.name for path, _ in report.skipped] == ["broken.wav"]
    ours, theirs = (SoundIndex.open(tmp_path / name, encoder) for name in ("fetched", "plain"))
    for one, other in zip(ours.library.entries, theirs.library.entries, strict=True):
        assert one.sound.path == folder_of(URI) / other.sound.path.relative_to(tones)
        assert name_of(one.sound.path).startswith("s3://library/tones/")
        for field in ("id", "name", "caption", "kind", "seconds", "content_hash"):
            assert getattr(one.sound, field) == getattr(other.sound, field)
        np.testing.assert_array_equal(one.vectors, other.vectors)
        np.testing.assert_array_equal(one.per_second, other.per_second)
    np.testing.assert_array_equal(ours.layout(), theirs.layout())
    assert ours.sounds[2].caption == "A low tone."


def test_scan_again_fetches_only_what_changed(
    buckets: FakeBuckets, tones: Path, tmp_path: Path, encoder: FakeEncoder
) -> None:
    """It forgets what is gone."""
    scan(folder_of(URI), tmp_path / "out", encoder)
    buckets.fetched.clear()
    (tones / "broken.wav").unlink()
    (tones / "all" / "deep tone.wav").unlink()
    write_tone(tones / "all" / "low tone.wav", "high", seconds=1)
    write_tone(tones / "new.wav", "shrill", seconds=1)
    calls = encoder.calls
    report = scan(folder_of(URI), tmp_path / "out", encoder)
    assert (report.added, report.unchanged, report.removed) == (2, 4, 1)
    keys = ["captions.csv", "all/low tone.wav", "new.wav"]
    assert buckets.fetched == [f"library/tones/{key}" for key in keys]
    assert encoder.calls == calls + 2


def test_scan_at_another_address_replaces_sounds(
    tones: Path, tmp_path: Path, encoder: FakeEncoder
) -> None:
    """Those of the address before are removed, and nothing is embedded again."""
    scan(folder_of(URI), tmp_path / "out", encoder)
    calls = encoder.calls
    report = scan(folder_of("s3://library/tones"), tmp_path / "out", encoder)
    assert (report.added, report.removed, encoder.calls) == (6, 6, calls)


def test_damaged_hashes_embed_nothing_again(
    tones: Path, tmp_path: Path, encoder: FakeEncoder
) -> None:
    """All files are fetched again."""
    scan(folder_of(URI), tmp_path / "out", encoder)
    (tmp_path / "out" / "hashes.sqlite").write_text("damaged")
    calls = encoder.calls
    assert scan(folder_of(URI), tmp_path / "out", encoder).unchanged == 6
    assert encoder.calls == calls


def test_scan_resumes_after_losing_its_bucket(
    buckets: FakeBuckets, tones: Path, tmp_path: Path, encoder: FakeEncoder
) -> None:
    """It keeps the index of before until then."""
    out = tmp_path / "out"
    scan(folder_of(URI), out, encoder)
    for number, word in enumerate(WORDS):
        write_tone(tones / f"new-{number}.wav", word, seconds=1)

    def lose(done: int, total: int, name: str) -> None:
        buckets.down = name == "new-3.wav"

    calls, requests = encoder.calls, buckets.requests
    with pytest.raises(UnreachableError, match="s3://library cannot be read.*run the command aga"):
        scan(folder_of(URI), out, encoder, lose)
    assert encoder.calls == calls + 3 and buckets.requests < requests + 10
    assert len(SoundIndex.open(out, encoder).sounds) == 6
    buckets.down = False
    buckets.fetched.clear()
    assert scan(folder_of(URI), out, encoder).added == 5
    assert encoder.calls == calls + 5
    assert "library/tones/new-2.wav" not in buckets.fetched, "its hash was kept too"


def test_scan_skips_refused_or_oversized_file(
    buckets: FakeBuckets, tones: Path, tmp_path: Path, encoder: FakeEncoder
) -> None:
    buckets.refused.add("library/tones/copy.wav")
    buckets.sizes["library/tones/all/low tone.wav"] = 5 * 2**30
    report = scan(folder_of(URI), tmp_path / "out", encoder)
    reasons = {path.name: reason for path, reason in report.skipped}
    assert report.added == 4 and reasons.keys() == {"broken.wav", "copy.wav", "low tone.wav"}
    assert "ACCESS_DENIED" in reasons["copy.wav"]
    assert reasons["low tone.wav"] == "It is larger than 4,096 MB."


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("s3://nowhere/tones", "NO_SUCH_BUCKET.*AWS_ACCESS_KEY_ID.*endpoint_override"),
        ("s3://library/none", "There are no files in s3://library/none"),
        ("s3://key:secret@library/tones", "environment"),
        ("s3://library/tones?access_key=a&secret_key=b", "environment"),
        ("s3://", "s3://BUCKET/PREFIX"),
        ("/s3:", "s3://BUCKET/PREFIX"),
        ("/s3:/library/tones", "s3://BUCKET/PREFIX"),
        ("s3://library//tones", "s3://BUCKET/PREFIX"),
        ("s3://library/../other", "s3://BUCKET/PREFIX"),
        ("s3://library/tones?allow_bucket_deletion=true", "s3://BUCKET/PREFIX"),
    ],
)
def test_unusable_addresses_are_refused_with_advice(
    uri: str, says: str, tones: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=says):
        scan(folder_of(uri), tmp_path / "out", FakeEncoder())
    assert not (tmp_path / "out").exists()


def test_missing_pyarrow_says_how_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.fs", None)
    with pytest.raises(SystemExit, match="pip install -r requirements-scale.txt"):
        main(["index", "s3://library/tones", "--index", str(tmp_path / "out")])


def test_bucket_is_not_watched(buckets: FakeBuckets, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="index s3://"):
        watch(folder_of(URI), tmp_path / "out", lambda: pytest.fail("it is scanned"), print)


def test_bucket_index_lies_in_current_folder(
    buckets: FakeBuckets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert index_of(folder_of("s3://lib.rary/a/b/?region=x")) == tmp_path / "s3-lib.rary-a-b.index"
    assert index_of(folder_of("s3://library")) == tmp_path / "s3-library.index"
    assert index_of(folder_of("sounds")) == tmp_path / "sounds.index"


def sounds_of(tones: Path, tmp_path: Path, encoder: FakeEncoder) -> list[Sound]:
    """The sounds of a search in the index of the bucket, best first."""
    scan(folder_of(URI), tmp_path / "out", encoder)
    index = SoundIndex.open(tmp_path / "out", encoder)
    return [hit.sound for hit in SoundSearch(encoder)(index, "low").hits]


def test_found_sound_is_fetched_once(
    buckets: FakeBuckets, tones: Path, tmp_path: Path, encoder: FakeEncoder
) -> None:
    """It plays, and is fetched again where its copy is gone."""
    sound = next(s for s in sounds_of(tones, tmp_path, encoder) if s.name == "low tone.wav")
    buckets.fetched.clear()
    copy = sound.file
    assert copy.read_bytes() == (tones / "all" / "low tone.wav").read_bytes()
    assert copy.suffix == ".wav" and sound.file == copy and len(buckets.fetched) == 1
    copy.unlink()  # as a page deletes old files
    assert sound.file.exists() and len(buckets.fetched) == 2


def test_copies_for_page_stay_within_room(
    buckets: FakeBuckets,
    tones: Path,
    tmp_path: Path,
    encoder: FakeEncoder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The copy that was used longest ago goes first."""
    sounds = sounds_of(tones, tmp_path, encoder)[:4]
    size = (tones / "copy.wav").stat().st_size
    monkeypatch.setattr(bucket, "MAX_CACHE_BYTES", 3 * size)
    first, second, third = (sound.file for sound in sounds[:3])
    assert sounds[0].file == first, "used last"
    fourth = sounds[3].file
    present = [copy.exists() for copy in (first, second, third, fourth)]
    assert present == [True, False, True, True]
    monkeypatch.setattr(bucket, "MAX_PLAYED_BYTES", size - 1)
    with pytest.raises(InputError, match="cannot be fetched"):
        _ = sounds[1].file


def test_silent_bucket_is_soon_left_alone(
    buckets: FakeBuckets, tones: Path, tmp_path: Path, encoder: FakeEncoder
) -> None:
    """It does not answer, and is not asked for every sound."""
    sounds = sounds_of(tones, tmp_path, encoder)
    buckets.down, buckets.requests = True, 0
    for sound in sounds:
        with pytest.raises(InputError) as refused:
            _ = sound.file
        assert "library" not in str(refused.value), "a visitor reads it"
    assert buckets.requests == 2
