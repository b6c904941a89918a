"""The endpoints for programs: every parameter and every return has a name and is explained."""

import re
from typing import Any

import gradio as gr
import pytest

from benchmarks.load.visitor import TASKS, Visitor
from earshot.app import site
from earshot.core.paths import CHECKPOINTS
from earshot.tabs import listening_tests
from earshot.tabs.shared.services import Services

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> gr.Blocks:
    """The whole app, listening tests too; this loads no model."""
    tests = listening_tests.opened(tmp_path_factory.mktemp("studies"), None)
    return site.build(Services(device="cpu", tests=tests), CHECKPOINTS)


@pytest.fixture(scope="module")
def endpoints(page: gr.Blocks) -> dict[str, Any]:
    """What a client's view_api(return_format="dict") returns."""
    named = page.get_api_info()["named_endpoints"]
    assert len(named) >= 12
    return named


def test_endpoints_name_all_their_returns(endpoints: dict[str, Any]) -> None:
    unnamed = {
        name: [value["label"] for value in endpoint["returns"]]
        for name, endpoint in endpoints.items()
        if any(re.fullmatch(r"value_\d+", value["label"]) for value in endpoint["returns"])
    }
    assert unnamed == {}


def test_endpoints_name_all_their_parameters(endpoints: dict[str, Any]) -> None:
    for endpoint in endpoints.values():
        for parameter in endpoint["parameters"]:
            assert not re.fullmatch(r"param_\d+", parameter["parameter_name"])


def test_endpoints_wait_for_nothing_longer(page: gr.Blocks, endpoints: dict[str, Any]) -> None:
    """Endpoints wait only for what takes no longer."""
    queues: dict[str, set[str]] = {}
    for fn in page.fns.values():
        if f"/{fn.api_name}" in endpoints:
            queues.setdefault(str(fn.concurrency_id), set()).add(str(fn.api_name))
    assert queues["conversion"] == {"convert", "speak_as_nobody", "encode", "detect"}
    assert queues["long"] >= {"lip_to_speech", "find_word"}
    assert queues["quick"] >= {"search_sounds", "embed_text", "decode", "respeak"}
    beside = [str(fn.name) for fn in page.fns.values() if fn.concurrency_id == "systems"]
    # Systems beside ours: of speech, of lips, of words, and of sounds, for one query and for all;
    # and what speaks the units of one again.
    assert sorted(beside) == ["compare", "compare", "run", "run", "search_by", "speak"]


def test_endpoints_explain_each_parameter_and_return(
    page: gr.Blocks, endpoints: dict[str, Any]
) -> None:
    handlers = {
        f"/{fn.api_name}": fn.fn for fn in page.fns.values() if f"/{fn.api_name}" in endpoints
    }
    for name, endpoint in endpoints.items():
        text = handlers[name].__doc__ or ""
        arguments, _, returns = text.partition("Returns:")
        assert "Args:" in arguments and returns, f"{name} lacks Args or Returns"
        for parameter in endpoint["parameters"]:
            assert f"{parameter['parameter_name']}:" in arguments, (name, parameter)
        for value in endpoint["returns"]:
            assert f"{value['label']}:" in returns, (name, value["label"])


def test_load_benchmark_gives_every_parameter(
    endpoints: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its visitors give all that the endpoints take."""
    monkeypatch.setattr(Visitor, "upload", lambda *_: {})
    visitor = Visitor("http://127.0.0.1")
    for task in TASKS:
        assert len(visitor.inputs(task)) == len(endpoints[f"/{task}"]["parameters"]), task
