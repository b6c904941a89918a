"""Comparison of words: tables, recordings, refused inputs, and the endpoint."""

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

from earshot.tabs.shared.events import reporting
from earshot.tabs.words.compare import (
    EXAMPLES,
    MAX_WORDS,
    CompareSection,
    Recordings,
)
from earshot.tabs.words.panel import Label, heat_table
from tests.support.fake_words import getters, write_word
from tests.support.serving import close

VISITOR: Any = SimpleNamespace(session_hash="visitor")
PICKED = ["tree-slt", "tree-awb", "cat-slt"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("library")


@pytest.fixture(scope="module")
def events(folder: Path) -> CompareSection:
    with gr.Blocks():
        return CompareSection(*getters(folder))  # type: ignore[arg-type]


def shown_error(events: CompareSection, handler: Any, *inputs: Any) -> str:
    """The message of a handler that fails; nothing else may change."""
    answer = reporting(handler, events.message)(*inputs)
    assert set(answer) == {events.message}
    return answer[events.message]


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    with gr.Blocks() as page:
        CompareSection(*getters(folder))  # type: ignore[arg-type]
    _, address, _ = page.launch(prevent_thread_lock=True)
    yield Client(address, verbose=False)
    close(page)


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


def test_compare_shows_table_of_each_similarity(events: CompareSection) -> None:
    answer = events.compare(PICKED, None, ())
    panel = answer[events.panel]
    spoken, dtw, written = tables(panel)
    assert answer[events.message] == ""
    assert [spoken[i][i] for i in range(3)] == ["1.00"] * 3
    assert float(spoken[0][1]) > 0.8 > 0.5 > float(spoken[0][2].replace("−", "-"))
    assert len(written[0]) == 2 and float(written[0][0]) > 0.8
    assert dtw[0][:2] == ["0.00", "0.00"] and float(dtw[0][2]) > 0.1
    assert len(panel["files"]) == 3 and panel["files"][0]["path"].endswith("tree-slt.wav")
    assert 'data-sounds="@file0 @file2"' in panel["html"]


def test_first_look_picks_example(events: CompareSection) -> None:
    """Words that are picked stay."""
    picked = events.selection
    first = events.first_look([], None)[picked].constructor_args
    assert len(first["value"]) == 6 and set(first["value"]) <= {c[1] for c in first["choices"]}
    assert first["value"][0].startswith(EXAMPLES[0][0])
    assert events.first_look(PICKED, None)[picked].constructor_args["value"] == PICKED


@pytest.mark.parametrize("picked", [[], ["tree-slt"], ["tree-slt", "no such word"], ["mine-1"]])
def test_compare_below_two_words_is_refused(events: CompareSection, picked: list[str]) -> None:
    message = shown_error(events, events.compare, picked, None, ())
    assert "Pick 2 words or more" in message and "alert" in message


def test_compare_of_many_words_is_refused(events: CompareSection) -> None:
    """It takes up to eight, as the page does."""
    assert "up to 8" in shown_error(events, events.compare, PICKED * 9, None, ())


def test_record_adds_word_and_deletes_file(events: CompareSection, upload: str) -> None:
    page = events
    answer = events.record(upload, PICKED, None, VISITOR)
    assert answer[page.message] == "" and not Path(upload).exists()
    picked = answer[page.selection].constructor_args["value"]
    assert picked == [*PICKED, "mine-1"]
    panel = events.compare(picked, answer[page.own], ())[page.panel]
    assert len(tables(panel)[0]) == 4
    # It can be played, and is stored in no file.
    assert "data:audio/wav;base64," in panel["html"] and len(panel["files"]) == 3


def test_damaged_words_are_compared_with_notice(events: CompareSection, upload: str) -> None:
    content = Path(upload).read_bytes()
    Path(upload).write_bytes(content[:-12_000])
    answer = events.record(upload, PICKED, None, VISITOR)
    picked = answer[events.selection].constructor_args["value"]
    compared = events.compare(picked, answer[events.own], ())
    assert "ends early" in compared[events.message]


def test_record_forgets_words_no_longer_picked(events: CompareSection, upload: str) -> None:
    """Their numbers are not given again."""
    page, content, own, picked = events, Path(upload).read_bytes(), None, []
    for _ in range(3):
        Path(upload).write_bytes(content)
        answer = events.record(upload, picked, own, VISITOR)
        own, picked = answer[page.own], answer[page.selection].constructor_args["value"][-2:]
    zoo = str(write_word(Path(upload), "zoo"))
    own = events.record(zoo, picked, own, VISITOR)[page.own]
    assert set(own) == {"mine-2", "mine-3", "mine-4"}
    events.store.leave(VISITOR)
    events.store.expire(str(VISITOR.session_hash))
    assert own == {}


def test_record_of_ninth_word_is_refused(events: CompareSection, upload: str) -> None:
    full = events.example("tree", "ship", "cat", "zoo")
    message = shown_error(events, events.record, upload, full, Recordings(), VISITOR)
    assert f"There are {MAX_WORDS} words already" in message


def test_write_sets_the_written_words(events: CompareSection) -> None:
    written = events.write(" threat, /kap/ ,,")[events.written]
    panel = events.compare(PICKED, None, written)[events.panel]
    assert [len(row) for row in tables(panel)[2]] == [2] * 3 and "/kap/" in panel["html"]
    assert "at most" in shown_error(events, events.write, ",".join("abcdefghi"))
    assert "letters" in shown_error(events, events.write, "123")


def test_heat_table_escapes_names() -> None:
    odd = Label("<b>", "x", "@file0")
    html = heat_table("A & B", [odd], [odd, Label("y")], np.array([[1.0, -0.2]]), 0, 1)
    assert "<b>" not in html and "A &amp; B" in html and "−0.20" in html
    assert html.count('data-sounds="@file0 @file0"') == 1


@pytest.mark.slow
def test_compare_words_endpoint_answers_with_matrices(client: Client, tmp_path: Path) -> None:
    files = [handle_file(write_word(tmp_path / f"{w}.wav", w)) for w in ("tree", "three", "zoo")]
    answer = client.predict(files, "tree, zoo", api_name="/compare_words")
    assert np.shape(answer["spoken"]) == np.shape(answer["dtw"]) == (3, 3)
    assert np.argmax(answer["written"], axis=1).tolist() == [0, 0, 1]
    assert answer["notices"] == []
    half = tmp_path / "half.wav"
    half.write_bytes((tmp_path / "zoo.wav").read_bytes()[:-12_000])
    notices = client.predict([*files, handle_file(half)], "", api_name="/compare_words")["notices"]
    assert len(notices) == 1 and notices[0].startswith("Recording 4: The file is damaged or ends")
    with pytest.raises(AppError, match="2 to 8 recordings"):
        client.predict(files[:1], "", api_name="/compare_words")
