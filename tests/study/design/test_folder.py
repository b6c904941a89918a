"""Tests made of sounds that somebody brings, and drafts made in the other tabs."""

import json
import zipfile
from pathlib import Path

import pytest

from benchmarks.support.listening import write_test
from earshot.core.errors import InputError
from earshot.study.design import folder, spec
from earshot.study.design.document import SpecError
from earshot.study.design.draft import Draft, DraftItem
from earshot.study.design.form import Form
from earshot.study.design.scales import PLACEHOLDER
from earshot.study.publishing import publish
from earshot.study.sounds import stimuli
from earshot.study.web.server import library
from tests.support.quickness import quickly
from tests.support.videos import write_video_test


def zip_of(source: Path, target: Path, below: str = "") -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for path in source.rglob("*.*"):
            archive.write(path, below + str(path.relative_to(source)))
    return target


def test_draft_of_many_bytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """They stay in memory. A sound in place of another is one."""
    monkeypatch.setattr("earshot.study.design.draft.MAX_DRAFT_BYTES", 1000)
    draft = Draft()
    draft.add(DraftItem("sound search", 600 * b"a", "a dog", {}))
    with pytest.raises(InputError, match="in all"):
        draft.add(DraftItem("sound search", 600 * b"a", "a cat", {}))
    draft.clear()
    draft.add(DraftItem("conversion", 300 * b"a", 600 * b"b", {}))
    with pytest.raises(InputError, match="in all"):
        draft.add(DraftItem("conversion", 10 * b"a", 600 * b"c", {}))


@pytest.mark.parametrize("below", ["", "my test/"])
@pytest.mark.parametrize("design", ["ab", "acr", "mushra"])
def test_unpacked_zip_of_sounds_opens(tmp_path: Path, below: str, design: str) -> None:
    """The test that is made of it can be described, checked and published."""
    sounds_folder = write_test(tmp_path / "sounds", "acr")
    (sounds_folder / "test.yaml").unlink()
    workspace = tmp_path / "workspace"
    folder.unpack([zip_of(sounds_folder, tmp_path / "sounds.zip", below)], workspace)
    yaml = folder.describe(workspace, Form(design))  # type: ignore[arg-type]
    (workspace / "test.yaml").write_text(yaml.replace(PLACEHOLDER, "We ask."))
    test = spec.load(workspace)
    assert test.systems == ("fine", "rough") and stimuli.check(test) == []
    tests = library(tmp_path / "open")
    name = publish(workspace, "Größe & Güte!", tests)
    assert name.startswith("gr-e-g-te-") and len(name) == 10 + 8
    assert tests.open(name).test.design.name == design


def test_unpack_groups_single_sounds_by_system(tmp_path: Path) -> None:
    sounds_folder = write_test(tmp_path / "sounds", "acr")
    loose = []
    for path in sounds_folder.glob("*/*.wav"):
        loose.append(path.rename(tmp_path / f"{path.parent.name}_{path.name}"))
    folder.unpack(loose, tmp_path / "workspace")
    assert folder.systems(tmp_path / "workspace") == {"fine": "fine/*.wav", "rough": "rough/*.wav"}


def test_unpack_of_unusable_files_leaves_nothing(tmp_path: Path) -> None:
    """It is refused with the reason."""
    (tmp_path / "no.zip").write_text("no zip")
    with pytest.raises(InputError, match="cannot be read"):
        folder.unpack([tmp_path / "no.zip"], tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr("../outside/a.wav", b"x")
        archive.writestr("/etc/a.wav", b"x")
        archive.writestr("script.py", b"x")
    with pytest.raises(InputError, match="no sounds"):
        folder.unpack([tmp_path / "evil.zip"], tmp_path / "b")
    assert not (tmp_path / "outside").exists() and not [*(tmp_path / "b").rglob("*.*")]
    tests = library(tmp_path / "open")
    bad = write_test(tmp_path / "bad", "acrobatics")
    with pytest.raises(SpecError, match="line 2"):
        publish(bad, "Bad", tests)
    assert tests.files() == {}


def test_zip_of_very_many_is_refused(tmp_path: Path) -> None:
    """Before objects are made of all its entries: 100 MB hold two millions."""
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr("a", "")
    one = (tmp_path / "one.zip").read_bytes()
    entries, end = one.index(b"PK\1\2"), one.index(b"PK\5\6")
    entry = one[entries:end]
    for times, message in (
        (100, "no sounds"),
        (folder.MAX_LIST_BYTES // len(entry) + 1, "too many"),
    ):
        size = (times * len(entry)).to_bytes(4, "little")  # in the record at the end, from byte 12
        many = one[:entries] + times * entry + one[end : end + 12] + size + one[end + 16 :]
        (tmp_path / "many.zip").write_bytes(many)
        with quickly(), pytest.raises(InputError, match=message):
            folder.unpack([tmp_path / "many.zip"], tmp_path / str(times))


def test_damaged_zip_is_told(tmp_path: Path) -> None:
    """A name that is not in the letters it says; and a folder called as the test's file is."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("ö.yaml", "a")
    content = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(content.replace("ö".encode(), b"\xff\xff"))
    with pytest.raises(InputError, match="cannot be read"):
        folder.unpack([tmp_path / "a.zip"], tmp_path / "test")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.mkdir("test.yaml")
    with pytest.raises(InputError, match="no sounds"):
        folder.unpack([tmp_path / "b.zip"], tmp_path / "other")


def test_videos_come_in_zip_and_draft(tmp_path: Path) -> None:
    """Both describe a test of videos, which keeps what they were encoded as."""
    videos = write_video_test(tmp_path / "videos", "ab", shared=True)
    (videos / "test.yaml").unlink()
    folder.unpack([zip_of(videos, tmp_path / "videos.zip")], tmp_path / "unpacked")
    draft = Draft()
    for path in sorted(videos.glob("*/*.mp4")):
        draft.add(DraftItem(path.parent.name, path.read_bytes(), path.stem, {}, video=True))
    draft.write(tmp_path / "draft")
    (tmp_path / "unpacked/test.yaml").write_text(folder.describe(tmp_path / "unpacked", Form("ab")))
    for name in ("unpacked", "draft"):
        test = spec.load(tmp_path / name)
        assert test.systems == ("fine", "rough") and len(test.of_kind("trial")) == 2
        assert {path.suffix for trial in test.trials for path in trial.sounds.values()} == {".mp4"}
        assert stimuli.check(test) == []


def test_draft_write_keeps_sources_and_settings(tmp_path: Path) -> None:
    sounds_folder = write_test(tmp_path / "sounds", "acr")
    draft = Draft()
    for name in ("bird", "cat"):
        source = (sounds_folder / "reference" / f"{name}.wav").read_bytes()
        for system in ("fine", "rough"):
            sound = (sounds_folder / system / f"{name}.wav").read_bytes()
            draft.add(DraftItem(f"{system}, 512", sound, source, {"target": "TF2"}))
    draft.add(DraftItem("fine, 512", sound, source, {"target": "TF2"}))  # again
    draft.write(tmp_path / "draft")
    test = spec.load(tmp_path / "draft")
    assert test.design.name == "ab" and test.systems == ("fine-512", "rough-512")
    assert stimuli.check(test) == []
    notes = [json.loads(line) for line in (tmp_path / "draft/sounds.jsonl").open()]
    assert len(notes) == 4 and notes[0]["settings"] == {"target": "TF2"}
    assert all((tmp_path / "draft" / note["source"]).exists() for note in notes)
    folder.write_zip(tmp_path / "draft", tmp_path / "draft.zip")
    with zipfile.ZipFile(tmp_path / "draft.zip") as archive:
        assert {"test.yaml", "sounds.jsonl"} <= {*archive.namelist()}
    draft.clear()
    assert not draft.items


@pytest.mark.parametrize("name", [".._x.wav", "._x.wav", "prepared_x.wav", ".hidden_x.wav"])
def test_unpack_of_odd_system_writes_nothing(tmp_path: Path, name: str) -> None:
    """A sound whose system cannot name a folder of ours is refused."""
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / name).write_bytes(b"x")
    (tmp_path / "in").mkdir()
    with pytest.raises(InputError, match="name sounds system_sentence|no sounds"):
        folder.unpack([tmp_path / "sent" / name], tmp_path / "in" / "workspace")
    assert not [*(tmp_path / "in").glob("*.wav")] and not [*tmp_path.glob("*.wav")]


def test_unpack_counts_bytes_of_all_uploads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "MAX_UNPACKED_BYTES", 2500)
    sent = []
    for name in ("one", "two", "three"):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{name}/a.wav", bytes(1000))
        sent.append(tmp_path / f"{name}.zip")
    folder.unpack(sent[:2], tmp_path / "fits")
    with pytest.raises(InputError, match="too much"):
        folder.unpack(sent, tmp_path / "too much")


def test_unpack_takes_no_prepared_copies(tmp_path: Path) -> None:
    """Only we write copies and the marks that they are checked."""
    with zipfile.ZipFile(tmp_path / "sent.zip", "w") as archive:
        archive.writestr("ours/a.wav", b"x")
        archive.writestr("prepared/checked.json", b"{}")
        archive.writestr("prepared/0123456789abcdef.wav", b"x")
    folder.unpack([tmp_path / "sent.zip"], tmp_path / "workspace")
    assert [path.name for path in (tmp_path / "workspace").iterdir()] == ["ours"]


def test_describe_of_systems_with_emoji_opens(tmp_path: Path) -> None:
    sounds_folder = write_test(tmp_path / "sounds", "acr")
    (sounds_folder / "fine").rename(sounds_folder / "😀")
    (sounds_folder / "test.yaml").write_text(folder.describe(sounds_folder, Form("acr")))
    assert "😀" in (sounds_folder / "test.yaml").read_text()
    assert spec.load(sounds_folder).systems == ("rough", "😀")
