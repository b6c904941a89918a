"""Inputs of which a part repeats without end: the time that they take grows with their length, and
not with its square, for all others wait meanwhile.

Each of these took minutes, or hours, with the processor to itself.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from gradio import processing_utils
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from earshot.core.connections import _WithoutCookies
from earshot.core.errors import InputError
from earshot.media.text.letters import MAX_MARKS, composed
from earshot.media.text.table import sheet
from earshot.sound_index.sound import MAX_TITLE, Filter
from earshot.study.design.document import SpecError
from earshot.study.design.spec import load
from earshot.systems.words.pronunciation import Pronouncer
from earshot.tabs.shared import tool_server
from earshot.tabs.shared.addresses import MAX_URL, Addresses
from earshot.tabs.shared.gradio_internals import take_own_files
from earshot.tabs.shared.sessions import is_upload
from tests.support.loops import run

LONG = 450_000  # repeats: about what a request may have
MARKS = "\u0301\u0316"  # above and below a letter, in the order that Unicode does not have
MAX_SECONDS = 5.0  # of the processor


@pytest.fixture(autouse=True)
def in_linear_time() -> Iterator[None]:
    began = time.thread_time()
    yield
    assert time.thread_time() - began < MAX_SECONDS


@pytest.mark.parametrize("address", ["data:" + LONG * "a", "data:" + LONG * "a;", "/a" * LONG])
def test_address_of_file_is_refused(address: str) -> None:
    """An agent's, in which an address of data without data was searched from each of its letters,
    and each folder of a path looked up."""
    for text in (address, f"http://x/gradio_api/file={address}"):
        with pytest.raises(InputError, match="A file is given as"):
            tool_server._file(text)


def test_path_of_upload_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page's, of an input and of an event."""
    path = "/a" * LONG
    event: Any = {"path": path}
    assert not is_upload(path)
    for name in ("_check_allowed", "check_all_files_in_cache"):
        monkeypatch.setattr(processing_utils, name, getattr(processing_utils, name))
    take_own_files()
    with pytest.raises(gr.Error, match="not uploaded here"):
        processing_utils._check_allowed(path, True)
    processing_utils.check_all_files_in_cache(event)


def test_address_to_fetch_is_refused() -> None:
    data = {"path": "http://x/" + LONG * "a", "meta": {}}
    with pytest.raises(gr.Error, match="no file at this address"):
        run(Addresses(fetched=True).replaced(data, "192.0.2.1"))
    assert MAX_URL < LONG


def test_cookies_are_not_read() -> None:
    """CVE-2024-7592, of Python itself: FastAPI reads all cookies with each request."""
    cookies: list[dict[str, str]] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        cookies.append(Request(scope).cookies)

    headers = [(b"host", b"here"), (b"cookie", b'a="' + 60_000 * b"\\" + b'"')]
    run(_WithoutCookies(app)({"type": "http", "headers": headers}, None, None))  # type: ignore
    assert cookies == [{}]


def test_marks_on_a_letter_are_limited() -> None:
    assert composed("e\u0301") == "é"
    assert composed(f"{MARKS[::-1]}a" * 40) == composed(f"{MARKS}a" * 40)
    assert len(composed("a" + MARKS * LONG)) <= 1 + MAX_MARKS
    assert len(composed("a" + "\u0f73\u0f75" * LONG)) <= 1 + 2 * MAX_MARKS  # two marks each


def test_typed_word_of_marks_is_refused(tiny_checkpoints: Path) -> None:
    pronounce = Pronouncer.from_pretrained(tiny_checkpoints / "g2p")
    with pytest.raises(InputError):
        pronounce(MARKS * LONG)
    with pytest.raises(InputError, match="too long"):
        pronounce(f"a{MARKS}" * LONG)


def test_cells_of_marks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("name,what\n" + f"a,a{MARKS * 4_000}\n" * 200, encoding="utf-8")
    assert {len(row.cells["what"]) for row in sheet(path).rows()} == {1 + MAX_MARKS - 1}


def test_title_is_limited() -> None:
    Filter(title=MAX_TITLE * "a")
    with pytest.raises(InputError, match="Give a title of"):
        Filter(title=LONG * "a ")


@pytest.mark.parametrize("name", ["é" * 200, "e" * 300, "a/" * 600])
def test_name_longer_than_disks_have_is_told(tmp_path: Path, name: str) -> None:
    """It ended "check" with a traceback."""
    (tmp_path / "test.yaml").write_text(
        f"title: Which?\ndesign: ab\nsystems:\n  a: {name}/*.wav\n  b: b/*.wav\n", encoding="utf-8"
    )
    with pytest.raises(SpecError, match=r"line 4: .* longer than a name can be"):
        load(tmp_path)
