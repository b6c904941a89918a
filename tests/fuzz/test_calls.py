"""Calls of the endpoints for programs that once failed without a sentence."""

import itertools
import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from benchmarks.support.hostile import JSON
from earshot.app import launch, site
from earshot.systems.sound_search import SoundSearch
from earshot.tabs import listening_tests, sound_search
from earshot.tabs.shared.events import OUR_FAULT
from earshot.tabs.shared.gradio_internals import UNUSABLE
from earshot.tabs.shared.services import Services
from tests.fuzz.endpoints import PREFIX
from tests.fuzz.seeds import CALLS
from tests.support.serving import close
from tests.support.sounds import write_library

pytestmark = pytest.mark.slow

PATIENCE = 60.0  # seconds


@pytest.fixture(scope="module")
def client(
    tiny_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    models = [tiny_checkpoints / name for name in sound_search.MODELS]
    folder = tmp_path_factory.mktemp("calls")
    index = write_library(folder, SoundSearch.from_pretrained(models, "cpu"))
    tests = listening_tests.opened(folder / "studies", None)
    services = Services(device="cpu", tests=tests, transcriber=site.transcriber("", "cpu"))
    page = site.build(services, tiny_checkpoints, index=index)
    address = launch.launch(page, launch.options([], {}), block=False)
    with httpx.Client(base_url=f"{address}gradio_api", timeout=PATIENCE) as client:
        yield client
    close(page)


def test_calls_are_of_every_endpoint(client: httpx.Client) -> None:
    named = client.get("/info").json()["named_endpoints"]
    assert {f"/{name.removeprefix(PREFIX)}" for name in CALLS} == set(named)


@pytest.mark.parametrize("name", CALLS)
def test_wrongly_typed_input_is_no_bug(
    client: httpx.Client, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A call with an input of another type meets no error of ours."""
    endpoint = name.removeprefix(PREFIX)
    for place, wrong in itertools.product(range(len(CALLS[name])), (None, [1], {}, "x")):
        inputs = [wrong if i == place else value for i, value in enumerate(CALLS[name])]
        joined = client.post(f"/call/{endpoint}", json={"data": inputs})
        answer = client.get(f"/call/{endpoint}/{joined.json()['event_id']}")
        assert "event: " in answer.text and OUR_FAULT not in answer.text, inputs
        assert '"error": null' not in answer.text, inputs
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []


def test_list_without_end_is_refused(client: httpx.Client) -> None:
    """Each of its values was told to be no file: 0.7 s in which all waited."""
    joined = client.post("/call/embed_words", json={"data": [190_000 * [0]]})
    answer = client.get(f"/call/embed_words/{joined.json()['event_id']}")
    assert UNUSABLE in answer.text


@pytest.mark.parametrize(
    "body", ["Infinity", "[NaN]", '"\\ud800"', '{"data": NaN}', '{"\\ud800": 1}', "{"]
)
def test_unparsable_call_is_refused_with_sentence(client: httpx.Client, body: str) -> None:
    reply = client.post("/call/embed_text", content=body, headers=JSON)
    assert reply.status_code == 422
    assert "damaged on its way" in reply.json()["detail"]
