"""What a visitor gave must be gone when they are."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from tabs.shared.sessions import SessionStore, delete_after_use


class Words(list):
    """A list that can be found by a weak reference."""


def visitor(name: str) -> Any:
    return SimpleNamespace(session_hash=name)


def test_a_visitor_who_leaves_is_forgotten_and_no_one_else() -> None:
    visits = SessionStore(Words)
    mine, yours = visits.of(None, visitor("a")), visits.of(None, visitor("b"))
    mine.append("lamp")
    yours.append("fan")
    assert visits.of(mine, visitor("a")) is mine
    visits.leave(visitor("a"))
    visits.leave(visitor("never here"))
    assert (list(mine), list(yours)) == ([], ["fan"])


def test_the_page_forgets_when_it_is_closed_and_when_its_time_is_up() -> None:
    visits = SessionStore(Words)
    with gr.Blocks() as page, gr.Blocks():
        state = visits.state()
    left = [fn for fn in page.fns.values() if any(t[1] == "unload" for t in fn.targets)]
    assert [fn.fn for fn in left] == [visits.leave]
    words = Words(["lamp"])
    state.delete_callback(words)
    assert not words


@pytest.fixture
def uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    (tmp_path / "gradio").mkdir()
    return tmp_path / "gradio"


def test_an_upload_is_deleted_even_if_it_was_of_no_use(uploads: Path) -> None:
    for problem in (False, True):
        file = uploads / "word.wav"
        file.write_bytes(b"RIFF")
        outcome = pytest.raises(ValueError) if problem else nullcontext()
        with outcome, delete_after_use(str(file)):
            if problem:
                raise ValueError
        assert not file.exists()


def test_files_that_are_no_uploads_stay(uploads: Path) -> None:
    ours = uploads.parent / "ours.wav"
    ours.write_bytes(b"RIFF")
    for path in (str(ours), str(uploads / ".." / "ours.wav"), None):
        with delete_after_use(path):
            pass
    assert ours.exists()
