"""Words compared: what is shown, what can be heard, what is refused, and the endpoint."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from tabs.words.compare import compare_section
from tabs.words.compare_events import EXAMPLES, MOST, CompareEvents, Recordings
from tabs.words.panel import Label, heat_table
from tests.fake_words import getters, write_word

VISITOR: Any = SimpleNamespace(session_hash="visitor")
PICKED = ["tree-slt", "tree-awb", "cat-slt"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("library")


@pytest.fixture(scope="module")
def events(folder: Path) -> CompareEvents:
    with gr.Blocks():
        return CompareEvents(*getters(folder))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    with gr.Blocks() as page:
        compare_section(*getters(folder))  # type: ignore[arg-type]
    _, address, _ = page.launch(prevent_thread_lock=True)
    yield Client(address, verbose=False)
    page.close()


@pytest.fixture
def upload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A recording of "ship" in Gradio's folder."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    return str(write_word(tmp_path / "upload" / "audio.wav", "ship"))


def tables(panel: dict[str, Any]) -> list[list[list[str]]]:
    """The numbers of each table, row by row."""
    rows = [
        table.split("<tbody>")[1].split("</tr>") for table in panel["html"].split("</table>")[:-1]
    ]
    return [[re.findall(r"(?<=>)[−\d.]+(?=<)", row) for row in table[:-1]] for table in rows]


def test_words_are_set_against_each_other(events: CompareEvents) -> None:
    message, panel = events.compare(PICKED, None, ())
    heard, warped, written = tables(panel)
    assert message == ""
    assert [heard[i][i] for i in range(3)] == ["1.00"] * 3
    assert float(heard[0][1]) > 0.8 > 0.5 > float(heard[0][2].replace("−", "-"))
    assert len(written[0]) == 2 and float(written[0][0]) > 0.8
    assert warped[0][:2] == ["0.00", "0.00"] and float(warped[0][2]) > 0.1
    assert len(panel["files"]) == 3 and panel["files"][0]["path"].endswith("tree-slt.wav")
    assert 'data-sounds="@file0 @file2"' in panel["html"]


def test_the_first_example_is_picked_until_something_else_is(events: CompareEvents) -> None:
    first = events.first_look([], None).constructor_args
    assert len(first["value"]) == 6 and set(first["value"]) <= {c[1] for c in first["choices"]}
    assert first["value"][0].startswith(EXAMPLES[0][0])
    assert events.first_look(PICKED, None).constructor_args["value"] == PICKED


@pytest.mark.parametrize("picked", [[], ["tree-slt"], ["tree-slt", "no such word"], ["mine-1"]])
def test_one_word_is_not_enough(events: CompareEvents, picked: list[str]) -> None:
    message, panel = events.compare(picked, None, ())
    assert "Pick 2 words or more" in message and "alert" in message
    assert panel == gr.skip()


def test_compare_of_more_words_than_the_page_offers_is_refused(events: CompareEvents) -> None:
    message, _ = events.compare(PICKED * 9, None, ())
    assert "up to 8" in message


def test_a_recording_is_compared_and_its_file_deleted(events: CompareEvents, upload: str) -> None:
    message, mine, dropdown = events.record(upload, PICKED, None, VISITOR)
    assert message == "" and not Path(upload).exists()
    picked = dropdown.constructor_args["value"]
    assert picked == [*PICKED, "mine-1"]
    _, panel = events.compare(picked, mine, ())
    assert len(tables(panel)[0]) == 4
    # It is heard, and lies in no file.
    assert "data:audio/wav;base64," in panel["html"] and len(panel["files"]) == 3


def test_recordings_are_numbered_and_go(events: CompareEvents, upload: str) -> None:
    content, mine, picked = Path(upload).read_bytes(), None, []
    for _ in range(3):
        Path(upload).write_bytes(content)
        _, mine, dropdown = events.record(upload, picked, mine, VISITOR)
        picked = dropdown.constructor_args["value"][-2:]
    _, mine, _ = events.record(str(write_word(Path(upload), "zoo")), picked, mine, VISITOR)
    assert set(mine) == {"mine-2", "mine-3", "mine-4"}
    events.visits.leave(VISITOR)
    events.visits.expire(str(VISITOR.session_hash))
    assert mine == {}


def test_a_recording_too_many_is_refused(events: CompareEvents, upload: str) -> None:
    full = events.example("tree", "ship", "cat", "zoo")
    message, *rest = events.record(upload, full, Recordings(), VISITOR)
    assert f"There are {MOST} words already" in message and rest == [gr.skip()] * 2


def test_written_words_are_typed(events: CompareEvents) -> None:
    _, written = events.write(" threat, /kap/ ,,")
    _, panel = events.compare(PICKED, None, written)
    assert [len(row) for row in tables(panel)[2]] == [2] * 3 and "/kap/" in panel["html"]
    assert "at most" in events.write(",".join("abcdefghi"))[0]
    assert "letters" in events.write("123")[0]


def test_names_are_text() -> None:
    odd = Label("<b>", "x", "@file0")
    html = heat_table("A & B", [odd], [odd, Label("y")], np.array([[1.0, -0.2]]), 0, 1)
    assert "<b>" not in html and "A &amp; B" in html and "−0.20" in html
    assert html.count('data-sounds="@file0 @file0"') == 1


def test_programs_compare_recordings(client: Client, tmp_path: Path) -> None:
    files = [handle_file(write_word(tmp_path / f"{w}.wav", w)) for w in ("tree", "three", "zoo")]
    answer = client.predict(files, "tree, zoo", api_name="/compare_words")
    assert np.shape(answer["heard"]) == np.shape(answer["dtw"]) == (3, 3)
    assert np.argmax(answer["written"], axis=1).tolist() == [0, 0, 1]
    with pytest.raises(AppError, match="2 to 8 recordings"):
        client.predict(files[:1], "", api_name="/compare_words")
