"""The temporary folder of a process: deleted at its end, or by the next one."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import gradio as gr
import pytest
from gradio import route_utils

from earshot.core.paths import ROOT
from earshot.tabs.shared.gradio_internals import delete_while_files_come, upload_folder
from earshot.tabs.shared.sessions import temporary_folder

CHILD = """
import time
from earshot.app import import_gradio
import_gradio()
from earshot.tabs.shared.sessions import temporary_folder
with temporary_folder() as folder:
    (folder / "secret.wav").write_text("RIFF")
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    return tmp_path


def start() -> tuple[subprocess.Popen, Path]:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout
    return child, Path(child.stdout.readline().strip())


def test_temporary_folder_holds_uploads() -> None:
    """It holds temporary files, too, and goes at its end."""
    before = os.environ["GRADIO_TEMP_DIR"]
    with temporary_folder() as folder:
        assert upload_folder() == folder
        assert Path(tempfile.mkdtemp()).parent == folder
    assert not folder.exists()
    assert os.environ["GRADIO_TEMP_DIR"] == before
    assert Path(tempfile.gettempdir()) != folder


def test_folder_of_killed_process_is_deleted() -> None:
    """The next process deletes it."""
    child, left = start()
    with temporary_folder():
        assert (left / "secret.wav").exists(), "it lives: its files are its own"
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert (left / "secret.wav").exists()
    with temporary_folder():
        assert not left.exists()
    assert child.stdout
    child.stdout.close()


def test_upload_during_a_deletion_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route_utils, "delete_files_created_by_app", None)
    delete_while_files_come()
    page, remove, paths = gr.Blocks(), os.remove, [str(tmp_path / name) for name in "abc"]

    def removed(path: str) -> None:
        remove(path)
        page.upload_file_set.add(f"{path}-new")

    for path in paths:
        Path(path).touch()
    page.upload_file_set.update(paths)
    monkeypatch.setattr(os, "remove", removed)
    for age, left in ((60, paths), (None, [f"{path}-new" for path in paths])):
        route_utils.delete_files_created_by_app(page, age)
        assert page.upload_file_set == {*left}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_folder_of_others_is_not_taken(parent: Path, mode: int) -> None:
    """Its name can be computed: who makes it first could exchange what lies in it."""
    with temporary_folder() as folder:
        usual = folder.parent
    usual.chmod(mode)
    with temporary_folder() as folder:
        assert usual not in folder.parents
        assert folder.parent.stat().st_mode & 0o077 == 0
    usual.rmdir()
    usual.symlink_to(parent)
    with temporary_folder() as folder:
        assert folder.parent not in (usual, parent)


def test_lock_that_is_a_fifo_stops_nothing() -> None:
    with temporary_folder() as folder:
        (folder.parent / "other").mkdir()
        os.mkfifo(folder.parent / "other" / "lock")
        (folder.parent / "file").touch()
    with temporary_folder() as again:
        assert again.exists()
