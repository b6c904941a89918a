"""Results in Gradio's cache, whose places are shared by all who have the same result."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from fastapi import Request
from gradio import processing_utils, utils
from gradio.data_classes import FileData
from gradio.state_holder import SessionState
from PIL import Image

from earshot.core.limits import BUDGETS
from earshot.tabs.shared import gradio_internals
from earshot.tabs.shared.gradio_internals import (
    IS_STATIC,
    MAX_PATH,
    WRITERS,
    charge_results,
    content_addressed,
    remember_static_files,
    write_results_whole,
)
from tests.support.loops import run

SOUND = np.linspace(-20_000, 20_000, 16_000).astype(np.int16)
Save = Callable[[str], str]
SAVES: dict[str, Save] = {
    "sound": lambda to: processing_utils.save_audio_to_cache(SOUND, 16_000, "wav", to),
    "file": lambda to: processing_utils.save_bytes_to_cache(b"RIFF", "own.wav", to),
    "picture": lambda to: processing_utils.save_pil_to_cache(
        Image.new("RGB", (32, 32)), to, format="webp"
    ),
}


@pytest.fixture(autouse=True)
def whole() -> Iterator[None]:
    write_results_whole()
    yield
    for save in WRITERS:
        setattr(processing_utils, save.__name__, save)


@pytest.mark.parametrize("kind", list(SAVES))
def test_result_written_again_spares_reader(kind: str, tmp_path: Path) -> None:
    """The file that is being read stays as it is."""
    save = SAVES[kind]
    path = Path(save(str(tmp_path)))
    written = path.read_bytes()
    with path.open("rb") as reading:
        # A writer in place would cut this very file to nothing first.
        reading_number = path.stat().st_ino
        assert Path(save(str(tmp_path))) == path
        assert path.stat().st_ino != reading_number
        assert reading.read() == written == path.read_bytes()


@pytest.mark.parametrize("kind", list(SAVES))
def test_result_lies_where_gradio_expects(kind: str, tmp_path: Path) -> None:
    """Nothing else lies there."""
    cache = tmp_path / "new"
    path = Path(SAVES[kind](str(cache)))
    assert content_addressed(path) and path.parent.parent == cache
    assert [entry for entry in cache.rglob("*") if entry.is_file()] == [path]
    assert list(cache.iterdir()) == [path.parent]


def test_unwritable_result_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        processing_utils.save_pil_to_cache(Image.new("RGB", (8, 8)), str(tmp_path), format="none")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", list(SAVES))
def test_result_leaves_room_for_answers(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Raters' answers lie on the same disk."""
    monkeypatch.setattr(gradio_internals, "MIN_FREE", 1 << 60)
    with pytest.raises(gr.Error, match="no room"):
        SAVES[kind](str(tmp_path))
    assert [*tmp_path.iterdir()] == []


def test_results_without_end_leave_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that is nearly full, an address gets no more than its share."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    monkeypatch.setattr(gradio_internals, "FILE_OVERHEAD", 90_000_000)  # as if each were as large
    with gr.Blocks() as page:
        sound = gr.Audio()
        numbers = count()
        gr.Button().click(lambda: (16_000, SOUND + next(numbers)), None, sound)
    charge_results(page, lambda request: str(request.url))

    def make(address: str) -> bool:
        scope = {"type": "http", "path": address, "headers": [], "server": ("here", 80)}
        request: Any = Request(scope)
        try:
            run(page.process_api(0, [], SessionState(page), request=request))
        except gr.Error as error:
            assert error.message == BUDGETS["results, MB"].refusal and not error.print_exception
            return False
        return True

    monkeypatch.setattr(gradio_internals, "SCARCE_BYTES", 0)
    assert [make("/one") for _ in range(4)] == [True] * 4
    monkeypatch.setattr(gradio_internals, "SCARCE_BYTES", 1 << 60)
    assert not make("/one")
    assert [make("/other") for _ in range(3)] == [True, True, False]


def test_static_files_are_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look asks the disk for every folder on the way; one at a name that is no file's, which
    may be of any length, is not kept."""
    looks = []

    def look(path: str, folders: list[Path]) -> bool:
        looks.append(path)
        return IS_STATIC(path, folders)

    monkeypatch.setattr(gradio_internals, "IS_STATIC", look)
    monkeypatch.setattr(utils, "_is_static_file", IS_STATIC)
    remember_static_files()
    ours, result = tmp_path / "ours" / "a.png", tmp_path / "result.wav"
    ours.parent.mkdir()
    for file in (ours, result):
        file.write_bytes(b"a")
    folders = [ours.parent]
    for _ in range(3):
        assert utils._is_static_file(FileData(path=str(ours)), folders)
        assert utils._is_static_file(str(ours), folders)
        assert not utils._is_static_file(str(result), folders)
    assert looks == [str(ours), str(result)]
    assert not utils._is_static_file(str(ours), [result.parent / "others"])
    assert not utils._is_static_file(3, folders)
    looks.clear()
    long = "a" * (MAX_PATH + 1)
    with suppress(OSError):
        utils._is_static_file(long, folders)
    with suppress(OSError):
        utils._is_static_file(long, folders)
    assert len(looks) == 2
