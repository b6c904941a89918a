"""The index that stays on the disk: the same answers as in memory, and never half written."""

import itertools
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.support.fake_sound_encoder import WORDS, FakeEncoder, write_tone
from earshot.core.errors import InputError
from earshot.core.paths import ROOT
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.scan import scan
from earshot.sound_index.sound import EVERYTHING, Description, Filter
from earshot.systems.sound_search import SoundSearch

KINDS = ("", "hum", "Straße")
LICENCES = ("", "CC0")
TAGS = ((), ("night",), ("night", "a, b"))


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder "sounds" and its indexes "memory" and "disk": tones of two octaves each, described;
    one file twice, one of several segments. For tests that change nothing."""
    indexes = tmp_path_factory.mktemp("indexes")
    lines = ["file,kind,caption,licence,tags"]
    for number, (one, other) in enumerate(itertools.permutations(WORDS, 2)):
        name = f"{number:02}-{one}-{other}.wav"
        write_tone(indexes / "sounds" / name, one, other, seconds=1 + number / 10)
        words = f"{KINDS[number % 3]},A {one} tone,{LICENCES[number % 2]}"
        lines.append(f'{name},{words},"{" | ".join(TAGS[number % 3])}"')
    write_tone(indexes / "sounds" / "long.wav", "low", "high", "deep", seconds=9)
    shutil.copy(indexes / "sounds" / "00-deep-low.wav", indexes / "sounds" / "copy.wav")
    (indexes / "sounds" / "captions.csv").write_text("\n".join(lines))
    scan(indexes / "sounds", indexes / "memory", FakeEncoder(), backend="memory")
    shutil.copytree(indexes / "memory", indexes / "disk")
    scan(indexes / "sounds", indexes / "disk", FakeEncoder(), backend="disk")
    return indexes


@pytest.fixture(scope="module")
def both(indexes: Path) -> tuple[SoundIndex, SoundIndex]:
    """The index of the folder in memory, and on the disk; for tests that change nothing."""
    memory, disk = (SoundIndex.open(indexes / name, FakeEncoder()) for name in ("memory", "disk"))
    assert disk.on_disk and not memory.on_disk
    return memory, disk


@pytest.fixture
def folder(indexes: Path, tmp_path: Path) -> Path:
    """A copy of the folder, with its indexes next to it, which a test may change."""
    shutil.copytree(indexes, tmp_path, dirs_exist_ok=True)
    return tmp_path / "sounds"


@pytest.fixture
def opened(folder: Path) -> tuple[SoundIndex, SoundIndex]:
    """The indexes of the copy."""
    memory, disk = (
        SoundIndex.open(folder.with_name(name), FakeEncoder()) for name in ("memory", "disk")
    )
    return memory, disk


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_disk_index_holds_what_memory_holds(
    both: tuple[SoundIndex, SoundIndex],
) -> None:
    memory, disk = both
    assert list(disk.sounds) == list(memory.sounds) and len(disk.sounds) == 22
    np.testing.assert_allclose(disk.layout(), memory.layout(), atol=1e-3)
    for number, sound in enumerate(memory.sounds):
        assert disk[sound.id] == sound and sound.id in disk
        assert disk.library.numbers[sound.id] == number
        assert disk.library.at(sound.path) == sound
        copies = memory.library.copies(sound.content_hash)
        assert disk.library.copies(sound.content_hash) == copies
        for mine, theirs in (
            (disk.library.entries[number].vectors, memory.library.entries[number].vectors),
            (disk.library.per_second(number), memory.library.per_second(number)),
        ):
            np.testing.assert_array_equal(mine, theirs)
    assert "no such id" not in disk and disk.library.at(Path("/nowhere")) is None
    assert disk.library.with_content("0" * 64) is None
    with pytest.raises(InputError, match="no longer in the library"):
        disk["no such id"]
    with pytest.raises(IndexError):
        disk.sounds[22]


def test_disk_index_gives_the_same_results(both: tuple[SoundIndex, SoundIndex]) -> None:
    memory, disk = both
    search = SoundSearch(memory.encoder)
    votes = {memory.sounds[3].id: 1, memory.sounds[8].id: -1}
    queries: list[dict[str, Any]] = [
        {"text": "low or high"},
        {"text": "deep", "without": "low"},
        {"text": "low then high"},
        {"text": "shrill", "votes": votes},
        {"like": memory.sounds[5].id},
        {"text": "middle", "only": Filter(kinds=frozenset({"hum"}))},
    ]
    for query in queries:
        one, other = search(memory, **query), search(disk, **query)
        assert [hit.sound for hit in one.hits] == [hit.sound for hit in other.hits], query
        assert one.matched == other.matched and one.hits
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)
        np.testing.assert_allclose(one.point, other.point, atol=1e-3)


@pytest.mark.parametrize(
    "only",
    [
        EVERYTHING,
        Filter(title="tone  LOW"),
        Filter(title="100% of '; DROP"),
        Filter(min_seconds=2.0, max_seconds=4.0),
        Filter(kinds=frozenset({"hum", "straße"})),
        Filter(kinds=frozenset()),
        Filter(licences=frozenset({"CC0"}), tags=frozenset({"night"})),
        Filter(tags=frozenset({"a, b", "nothing"})),
        Filter(ids=frozenset()),
        Filter(tags=frozenset({"a, b"}), ids=frozenset({"x"}), title="a"),
    ],
)
def test_filters_pass_same_sounds_in_sql(both: tuple[SoundIndex, SoundIndex], only: Filter) -> None:
    memory, disk = both
    assert disk.library.tags == memory.library.tags == ("a, b", "night")
    assert disk.library.licences == memory.library.licences == ("CC0",)
    np.testing.assert_array_equal(memory.library.passing(only), disk.library.passing(only))
    ids = frozenset({memory.sounds[2].id})
    only = Filter(title=only.title, tags=only.tags, ids=ids)
    np.testing.assert_array_equal(memory.library.passing(only), disk.library.passing(only))


def test_scan_updates_disk_index(
    folder: Path, opened: tuple[SoundIndex, SoundIndex], encoder: FakeEncoder
) -> None:
    """It embeds only what is new, in place; nobody says again that the index is on the disk."""
    out, calls = folder.with_name("disk"), encoder.calls
    elsewhere = write_tone(folder.with_name("elsewhere") / "a.wav", "high", seconds=1)
    opened[1].add([elsewhere], {elsewhere: Description("hum", "Elsewhere")})
    opened[1].save(out, "disk")
    before = {sound.name: sound.id for sound in opened[1].sounds}
    (folder / "long.wav").unlink()
    (folder / "broken.wav").write_text("no sound")
    write_tone(folder / "01-deep-middle.wav", "shrill", seconds=1)
    report = scan(folder, out, encoder)
    assert (report.added, report.unchanged, report.removed) == (1, 20, 1)
    assert [path.name for path, _ in report.skipped] == ["broken.wav"]
    assert encoder.calls == calls + 1
    index = SoundIndex.open(out, encoder)
    assert index.on_disk and [sound.path for sound in index.sounds][0] == elsewhere
    after = {sound.name: sound.id for sound in index.sounds}
    changed = "01-deep-middle.wav"
    assert after.pop(changed) != before.pop(changed)
    assert before.pop("long.wav") and after == before
    assert index.sounds[0].caption == "Elsewhere"
    again = contents(out)
    assert scan(folder, out, encoder).unchanged == 21
    assert contents(out).keys() == again.keys(), "the names are hashes of what they hold"


def test_index_opens_in_requested_backend(
    opened: tuple[SoundIndex, SoundIndex], folder: Path, encoder: FakeEncoder
) -> None:
    held = SoundIndex.open(folder.with_name("disk"), encoder, "memory")
    assert not held.on_disk and list(held.sounds) == list(opened[0].sounds)
    with pytest.raises(InputError, match="--index-backend disk"):
        SoundIndex.open(folder.with_name("memory"), encoder, "disk")
    calls = encoder.calls
    for backend in ("disk", "memory"):
        scan(folder, folder.with_name("memory"), encoder, backend=backend)
        there = SoundIndex.open(folder.with_name("memory"), encoder)
        assert there.on_disk == (backend == "disk") and encoder.calls == calls
        assert list(there.sounds) == list(opened[0].sounds)


def test_damaged_disk_index_says_so(
    opened: tuple[SoundIndex, SoundIndex], folder: Path, encoder: FakeEncoder
) -> None:
    saved = folder.with_name("disk")
    for path in sorted(saved.iterdir()):
        whole = path.read_bytes()
        for damaged in (b"", whole[: len(whole) // 2], b"[]", None):
            path.unlink() if damaged is None else path.write_bytes(damaged)
            with pytest.raises(InputError, match="damaged|no index"):
                SoundIndex.open(saved, encoder)
        path.write_bytes(whole)
    assert len(SoundIndex.open(saved, encoder).sounds) == 22


def test_deleted_disk_index_still_answers(
    opened: tuple[SoundIndex, SoundIndex], folder: Path
) -> None:
    """It was opened before."""
    memory, disk = opened
    shutil.rmtree(folder.with_name("disk"))
    query = memory.encoder.embed_text(["high"])[0]
    assert [s for s, _, _ in disk.search(query)] == [s for s, _, _ in memory.search(query)]


def test_killed_writer_leaves_version_before(
    folder: Path, opened: tuple[SoundIndex, SoundIndex], encoder: FakeEncoder
) -> None:
    """The next scan goes on where it was killed."""
    out, sounds = folder.with_name("disk"), list(opened[0].sounds)
    before = contents(out)
    for number in range(8):
        write_tone(folder / f"new-{number}.wav", "low", seconds=3 + number / 9)
    code = (
        "import sys; from pathlib import Path;"
        "from earshot.sound_index.scan import scan;"
        "from benchmarks.support.fake_sound_encoder import FakeEncoder;"
        "scan(Path(sys.argv[1]), Path(sys.argv[2]), FakeEncoder(delay=0.3))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, folder, out], cwd=ROOT)
    while len(list(out.glob("partial-*/*.npz"))) < 3:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (out / "vectors.new").exists(), "it had begun to write"
    assert before.items() <= contents(out).items()
    assert list(SoundIndex.open(out, encoder).sounds) == sounds
    done, calls = len(list(out.glob("partial-*/*.npz"))), encoder.calls
    report = scan(folder, out, encoder)
    assert report.added == 8 and encoder.calls == calls + 8 - done
    assert not list(out.glob("*.new*")) and not list(out.glob("partial-*"))
    assert len(SoundIndex.open(out, encoder).sounds) == 30
