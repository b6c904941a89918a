"""Indexing a folder: updates, resuming, watching, captions, and what is refused."""

import queue
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from benchmarks.support.fake_sound_encoder import WORDS, FakeEncoder, write_tone
from earshot.core.errors import InputError
from earshot.core.paths import ROOT
from earshot.sound_index.index import Report, SoundIndex
from earshot.sound_index.scan import CAPTIONS, read_captions, scan, watch
from earshot.sound_index.sound import Description
from tests.sound_index.indexes import contents

pytestmark = pytest.mark.slow


def test_scan_updates_index_of_folder(folder: Path, encoder: FakeEncoder) -> None:
    out = folder.with_name("sounds.index")
    (folder / "captions.csv").write_text("file,kind,caption\nlow.wav,hum,A low hum | It hums\n")
    (folder / ".hidden.wav").write_text("no sound")
    (folder / "notes.txt").write_text("no sound")
    write_tone(folder / "deeper" / "high.wav", "high", seconds=1)
    report = scan(folder, out, encoder)
    assert (report.added, report.unchanged, report.removed) == (len(WORDS) + 1, 0, 0)
    assert [path.name for path, _ in report.skipped] == ["notes.txt"]
    low = next(s for s in SoundIndex.open(out, encoder).sounds if s.name == "low.wav")
    assert (low.kind, low.first_caption) == ("hum", "A low hum")
    assert low.caption == "A low hum | It hums"
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


def test_empty_or_huge_folder_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, out = tmp_path / "sounds", tmp_path / "index"
    folder.mkdir()
    with pytest.raises(InputError, match="no files"):
        scan(folder, out, FakeEncoder())
    names = (folder / f"{number}.wav" for number in range(1_000_000))
    monkeypatch.setattr("earshot.sound_index.scan.walk_files", lambda *_: names)
    monkeypatch.setattr("earshot.sound_index.scan.MAX_FILES", 2)
    with pytest.raises(InputError, match="more than 2 files, the most"):
        scan(folder, out, FakeEncoder())
    assert next(names).name == "3.wav", "the names beyond the limit are not read"
    assert not out.exists()


def test_scan_skips_broken_and_long_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the reasons."""
    monkeypatch.setattr("earshot.sound_index.embedding.MAX_SECONDS", 5.0)
    folder = tmp_path / "sounds"
    write_tone(folder / "low.wav", "low")
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    write_tone(folder / "long.wav", "low", seconds=6.0)
    report = scan(folder, tmp_path / "index", FakeEncoder())
    reasons = {path.name: reason for path, reason in report.skipped}
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
        "import sys; from pathlib import Path;"
        "from earshot.sound_index.scan import scan;"
        "from benchmarks.support.fake_sound_encoder import FakeEncoder;"
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


def test_watch_follows_changes_of_files(folder: Path) -> None:
    """Files come and go, and captions that cannot be read do not stop it."""
    out = folder.with_name("sounds.index")
    reports: queue.Queue[Report | str] = queue.Queue()
    stop = threading.Event()
    update = partial(scan, folder, out, FakeEncoder())
    watcher = threading.Thread(target=watch, args=(folder, out, update, reports.put, stop))
    watcher.start()
    try:
        assert reports.get(timeout=60) == Report(len(WORDS), 0, 0, ())
        write_tone(folder.parent / "new.wav", "low", "high").rename(folder / "new.wav")
        assert reports.get(timeout=60) == Report(1, len(WORDS), 0, ())
        (folder / "new.wav").unlink()
        assert reports.get(timeout=60) == Report(0, len(WORDS), 1, ())
        (folder / CAPTIONS).write_text("name,kind,caption\nlow.wav,,\n")
        assert "no column" in str(reports.get(timeout=60)), "it says so, and goes on"
    finally:
        stop.set()
        watcher.join()
    assert len(SoundIndex.open(out, FakeEncoder()).sounds) == len(WORDS)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (b"name,kind,caption\nlow.wav,hum,A low hum\n", "no column 'file'"),
        (b"file,kind,caption\nlow.wav,\x81,A low hum\n", "UTF-8"),
    ],
)
def test_unreadable_captions_are_refused_with_advice(
    tmp_path: Path, table: bytes, message: str
) -> None:
    (tmp_path / CAPTIONS).write_bytes(table)
    with pytest.raises(InputError, match=message):
        read_captions(tmp_path / CAPTIONS)


def test_captions_with_short_row_are_read(tmp_path: Path) -> None:
    """So are captions that begin with the mark of UTF-8."""
    (tmp_path / CAPTIONS).write_text("\ufefffile,kind,caption\nlow.wav\n", encoding="utf-8")
    assert read_captions(tmp_path / CAPTIONS) == {"low.wav": Description()}


@pytest.mark.parametrize("backend", ["memory", "disk"])
def test_deleted_captions_are_shown_no_more(
    folder: Path, encoder: FakeEncoder, backend: str
) -> None:
    """jellyfin/jellyfin#12233, InstaZDLL/WaveFlow#366: a tag that was removed is still shown."""
    out, table = folder.with_name("sounds.index"), folder / CAPTIONS
    table.write_text("file,kind,caption\nlow.wav,hum,A wrong one\nhigh.wav,hum,A high one\n")

    def captions() -> set[str]:
        scan(folder, out, encoder, backend=backend)
        return {sound.caption for sound in SoundIndex.open(out, encoder).sounds} - {""}

    assert captions() == {"A wrong one", "A high one"}
    table.write_text("file,kind,caption\nhigh.wav,hum,A high one\n")
    assert captions() == {"A high one"}
    table.unlink()
    assert captions() == set()


def test_captions_describe_licence_and_tags(tmp_path: Path) -> None:
    (tmp_path / CAPTIONS).write_text(
        "file,kind,caption,licence,tags\nlow.wav,hum,A hum | hum,CC BY 4.0,night | field |night\n"
    )
    expected = Description("hum", "A hum | hum", "CC BY 4.0", ("night", "field"))
    assert read_captions(tmp_path / CAPTIONS) == {"low.wav": expected}
