"""Folders of strangers: what cannot be opened, links, and captions that name files in their way."""

import os
import shutil
import threading
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from benchmarks.support.fake_sound_encoder import FakeEncoder, write_tone
from earshot.cli.sounds import main
from earshot.core.errors import InputError
from earshot.core.files import walk_files
from earshot.sound_index import scan as scanning
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.scan import CAPTIONS, BusyError, described, read_captions, scan
from earshot.sound_index.sound import Description

BACKENDS = pytest.mark.parametrize("backend", ["memory", "disk"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One sound, and one in a folder that can go away."""
    write_tone(tmp_path / "sounds" / "low.wav", "low")
    write_tone(tmp_path / "sounds" / "disk2" / "high.wav", "high")
    return tmp_path / "sounds"


def unopened(monkeypatch: pytest.MonkeyPatch, closed: Path) -> None:
    """Make a folder one that cannot be opened: chmod does not keep root out."""
    listdir, here = os.listdir, closed

    def refusing(path: Path) -> list[str]:
        if Path(path) == here:
            raise PermissionError(13, "Permission denied", str(path))
        return listdir(path)

    monkeypatch.setattr("earshot.core.files.os.listdir", refusing)


@BACKENDS
def test_unreadable_folder_keeps_its_sounds(
    folder: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MoldyTaint/Cinephage#505, navidrome/navidrome#328."""
    out, encoder = folder.with_name("index"), FakeEncoder()
    scan(folder, out, encoder, backend=backend)
    with monkeypatch.context() as patch:
        unopened(patch, folder / "disk2")
        report = scan(folder, out, encoder)
        assert (report.added, report.unchanged, report.removed) == (0, 1, 0)
        assert report.skipped == ((folder / "disk2", "Permission denied"),)
    assert {sound.name for sound in SoundIndex.open(out, encoder).sounds} == {"low.wav", "high.wav"}
    shutil.rmtree(folder / "disk2")
    report = scan(folder, out, encoder)
    assert (report.unchanged, report.removed, report.skipped) == (1, 1, ())


def test_first_scan_names_unreadable_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    unopened(monkeypatch, folder / "disk2")
    report = scan(folder, tmp_path / "index", FakeEncoder())
    assert report.added == 1 and report.skipped == ((folder / "disk2", "Permission denied"),)
    unopened(monkeypatch, folder)
    with pytest.raises(InputError, match="no files in .*Permission denied"):
        scan(folder, tmp_path / "other", FakeEncoder())


@BACKENDS
def test_absent_disk_keeps_its_sounds(folder: Path, backend: str) -> None:
    """Its folder is empty, or the link to it leads nowhere."""
    out, encoder = folder.with_name("index"), FakeEncoder()
    scan(folder, out, encoder, backend=backend)
    (folder / "disk2").rename(folder.with_name("away"))
    (folder / "disk2").mkdir()
    report = scan(folder, out, encoder)
    assert (report.unchanged, report.removed) == (1, 0)
    assert [(path.name, "empty" in reason) for path, reason in report.skipped] == [("disk2", True)]
    (folder / "disk2").rmdir()
    (folder / "disk2").symlink_to(folder.with_name("nowhere"))
    report = scan(folder, out, encoder)
    assert report.removed == 0 and "No such file" in report.skipped[0][1]
    folder.with_name("away").rename(folder.with_name("nowhere"))
    assert scan(folder, out, encoder).unchanged == 2


def test_unreadable_file_keeps_its_entry(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, encoder = folder.with_name("index"), FakeEncoder()
    scan(folder, out, encoder)

    def refusing(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("earshot.sound_index.embedding.file_hash", refusing)
        report = scan(folder, out, encoder)
    assert (report.unchanged, report.removed, len(report.skipped)) == (0, 0, 2)
    assert len(SoundIndex.open(out, encoder).sounds) == 2


def test_linked_folders_are_followed_once(folder: Path, tmp_path: Path) -> None:
    """Links that go round in a circle or lead nowhere do no harm."""
    write_tone(tmp_path / "elsewhere" / "deep.wav", "deep")
    (folder / "more").symlink_to(tmp_path / "elsewhere")
    (folder / "again").symlink_to(folder / "disk2")
    (folder / "disk2" / "loop").symlink_to(folder)
    (folder / "gone").symlink_to(tmp_path / "nowhere")
    problems: dict[Path, str] = {}
    paths = list(walk_files(folder, problems.setdefault))
    names = sorted(path.relative_to(folder).as_posix() for path in paths)
    assert names == ["disk2/high.wav", "low.wav", "more/deep.wav"]
    assert list(problems) == [folder / "gone"]


def test_captions_match_folder_form_and_case(tmp_path: Path) -> None:
    """MontrealForcedAligner#491, coqui TTS PR#1994: each row means one file, or is named."""
    names = ["dog/1.wav", "rain/1.wav", unicodedata.normalize("NFD", "für.wav"), "LOUD.WAV"]
    names += ["wind/2.wav", "a.wav", "A.wav"]
    files = [tmp_path / name for name in names]
    rows = {
        "dog/1.wav": "A dog",
        "rain\\1.wav": "Rain",
        unicodedata.normalize("NFC", "für.wav"): "Fur",
        "loud.wav": "Loud",
        "2.wav": "Wind",
        "A.wav": "Big",
        "1.wav": "Which?",
        "nothere.wav": "Nothing",
        "sea/2.wav": "Elsewhere",
    }
    captions = {name: Description(caption=caption) for name, caption in rows.items()}
    descriptions, problems = described(captions, files, tmp_path)
    assert {
        path.relative_to(tmp_path).as_posix(): d.caption for path, d in descriptions.items()
    } == {
        "dog/1.wav": "A dog",
        "rain/1.wav": "Rain",
        names[2]: "Fur",
        "LOUD.WAV": "Loud",
        "wind/2.wav": "Wind",
        "A.wav": "Big",
    }
    names = [problem.partition("”")[0] for problem in problems]
    assert names == ["“1.wav", "“nothere.wav", "“sea/2.wav"]
    assert "2 files have this name" in problems[0]


@pytest.mark.parametrize(
    "content",
    [
        "file;kind;caption\nlow.wav;hum;Ein Ton für dich\n".encode("cp1252"),
        "file\tkind\tcaption\nlow.wav\thum\tEin Ton für dich\n".encode("utf-16"),
        "sep=,\nfile,kind,caption\nlow.wav,hum,Ein Ton für dich\n".encode("utf-8-sig"),
    ],
)
def test_captions_of_other_programs_are_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CAPTIONS).write_bytes(content)
    assert read_captions(tmp_path / CAPTIONS) == {"low.wav": Description("hum", "Ein Ton für dich")}


def test_command_names_cut_off_sound(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plachtaa/Seed-VC#59: a file that was cut off passed for a whole one."""
    monkeypatch.setattr(
        "earshot.systems.sound_search.encoder.load_encoder", lambda *_: FakeEncoder()
    )
    (folder / "low.wav").write_bytes((folder / "low.wav").read_bytes()[:-20_000])
    main(["index", str(folder), "--index", str(folder.with_name("index"))])
    printed = capsys.readouterr()
    assert "2 added" in printed.out and "low.wav: The file is damaged" in printed.err


def test_command_names_captions_without_files(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "earshot.systems.sound_search.encoder.load_encoder", lambda *_: FakeEncoder()
    )
    (folder / CAPTIONS).write_text("file,kind,caption\nlow.wav,hum,A hum\nnothere.wav,hum,None\n")
    main(["index", str(folder), "--index", str(folder.with_name("index"))])
    printed = capsys.readouterr().out
    assert "2 added" in printed and "captions.csv: “nothere.wav”: there is no such file" in printed


def test_second_scan_at_once_is_refused(folder: Path) -> None:
    out, encoder = folder.with_name("index"), FakeEncoder()
    inside, done = threading.Event(), threading.Event()

    def pause(*_: object) -> None:
        inside.set()
        assert done.wait(60)

    first = threading.Thread(target=scan, args=(folder, out, encoder, pause))
    first.start()
    assert inside.wait(60)
    with pytest.raises(BusyError, match="Another program is updating"):
        scan(folder, out, FakeEncoder())
    done.set()
    first.join()
    assert len(SoundIndex.open(out, encoder).sounds) == 2
    assert scanning.scan(folder, out, encoder).unchanged == 2


@BACKENDS
@pytest.mark.parametrize("array", ["vectors", "seconds"])
def test_array_of_random_bytes_is_damaged(folder: Path, backend: str, array: str) -> None:
    out, encoder = folder.with_name("index"), FakeEncoder()
    scan(folder, out, encoder, backend=backend)
    assert len(SoundIndex.open(out, encoder).sounds) == 2
    path = next(out.glob(f"{array}-*.npy"))
    content = bytearray(path.read_bytes())
    content[-40:] = np.random.default_rng(0).bytes(40)
    path.write_bytes(content)
    os.utime(path, ns=(0, 0))
    with pytest.raises(InputError, match="damaged"):
        SoundIndex.open(out, encoder)
