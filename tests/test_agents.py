"""The tools of agents, driven by the official client of the Model Context Protocol."""

import base64
import json
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import gradio as gr
import httpx
import numpy as np
import pytest
from gradio.route_utils import delete_files_created_by_app
from jsonschema import Draft202012Validator
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent, Tool

from benchmarks.support.hostile import MCP
from earshot.app import launch, site
from earshot.core.paths import ASSETS
from earshot.media.audio.load import wav_bytes
from earshot.systems.sound_search import SoundSearch
from earshot.tabs import listening_tests
from earshot.tabs.shared.gradio_internals import upload_folder
from earshot.tabs.shared.services import Services
from earshot.tabs.shared.tool_server import INBOX, TOOLS, ToolServer
from tests.support.serving import close
from tests.support.sounds import samples_of, write_library

pytestmark = pytest.mark.slow

SPEECH = ASSETS / "voices" / "S1.ogg"


@pytest.fixture(scope="module")
def address(tiny_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The whole app with untrained networks."""
    folder = tmp_path_factory.mktemp("agents")
    model = str(tiny_checkpoints / "sound-cnn")
    index = write_library(folder, SoundSearch.from_pretrained(model, "cpu"))
    tests = listening_tests.opened(folder / "studies", None)
    services = Services(device="cpu", tests=tests, transcriber=site.transcriber("", "cpu"))
    page = site.build(services, tiny_checkpoints, sound_model=[model], index=index)
    yield launch.launch(page, launch.options([], {}), block=False)
    close(page)


def session(address: str, use: Callable[[ClientSession], Awaitable[Any]]) -> Any:
    """What ``use`` returns of a session with the server."""

    async def run() -> Any:
        async with (
            streamable_http_client(f"{address}gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as client,
        ):
            await client.initialize()
            return await use(client)

    # In a thread of its own: Playwright's tests may have left an event loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, run).result()


def call(address: str, name: str, **arguments: Any) -> CallToolResult:
    return session(address, lambda client: client.call_tool(name, arguments))


def answer(address: str, name: str, **arguments: Any) -> dict[str, Any]:
    """What a call answers; its text says the same as its structured content."""
    result = call(address, name, **arguments)
    content = result.content[0]
    assert isinstance(content, TextContent)
    assert not result.isError, content.text
    assert result.structuredContent == json.loads(content.text)
    assert result.structuredContent is not None
    return result.structuredContent


def data_url(path: Path, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


@pytest.fixture(scope="module")
def tools(address: str) -> list[Tool]:
    return session(address, lambda client: client.list_tools()).tools


def test_tools_are_those_of_the_list(tools: list[Tool]) -> None:
    assert [tool.name for tool in tools] == list(TOOLS)


def test_tools_have_schemas_that_are_valid(tools: list[Tool]) -> None:
    for tool in tools:
        Draft202012Validator.check_schema(tool.inputSchema)
        Draft202012Validator.check_schema(tool.outputSchema or {})


def test_tools_explain_parameters_and_results(tools: list[Tool]) -> None:
    """Every parameter and every result is explained."""
    for tool in tools:
        assert tool.description and "Returns" in tool.description
        assert tool.outputSchema
        fields = [
            *tool.inputSchema["properties"].values(),
            *tool.outputSchema["properties"].values(),
        ]
        assert all(len(field["description"]) > 10 for field in fields), tool.name


def test_convert_is_encode_and_decode(address: str) -> None:
    speech = data_url(SPEECH, "audio/ogg")
    converted = answer(address, "convert", audio=speech, target="SM1", model="vqvae-64")
    assert converted.keys() == {"speech", "units", "numbers", "notices"}
    encoded = answer(address, "encode", audio=speech, model="vqvae-64")
    assert encoded["units"] == converted["units"]
    units = httpx.get(converted["units"]).json()
    assert units["model"] == "vqvae-64" and units["codes"]
    again = answer(address, "decode", units=units, target="SM1")
    decoded = answer(address, "decode", units=encoded["units"], target="SM1")
    files = [httpx.get(each["speech"]).content for each in (converted, again, decoded)]
    assert len({samples_of(file) for file in files}) == 1
    assert files[0].startswith(b"RIFF")


def test_agents_hear_of_mark(address: str) -> None:
    """Whichever way a conversion of ours is taken for a recording."""
    speech = data_url(ASSETS / "examples" / "finished-converted.ogg", "audio/ogg")
    for tool, more in (("convert", {"target": "SM1"}), ("encode", {})):
        notices = answer(address, tool, audio=speech, model="vqvae-64", **more)["notices"]
        assert any("carries the mark" in sentence for sentence in notices), tool


def test_agents_hear_of_early_end(address: str, tmp_path: Path) -> None:
    """Agents are told that a recording ends early."""
    noise = 0.1 * np.random.default_rng(0).standard_normal(32_000)
    (tmp_path / "cut.wav").write_bytes(wav_bytes(noise, 16_000)[:32_000])
    speech = data_url(tmp_path / "cut.wav", "audio/wav")
    for tool, more in (("convert", {"target": "SM1"}), ("encode", {})):
        notices = answer(address, tool, audio=speech, model="vqvae-64", **more)["notices"]
        assert any("ends early" in sentence for sentence in notices), tool


def test_convert_answers_in_two_kilobytes(
    address: str,
) -> None:
    """Convert takes what another tool answered."""
    speech = data_url(SPEECH, "audio/ogg")
    converted = call(address, "convert", audio=speech, target="TF2")
    assert isinstance(converted.content[0], TextContent) and not converted.isError
    assert len(converted.content[0].text) <= 2000
    document = json.loads(converted.content[0].text)
    again = answer(address, "convert", audio=document["speech"], target="SF1")
    assert httpx.get(again["speech"]).content.startswith(b"RIFF")


def test_agents_wait_as_own_visits(address: str) -> None:
    """Agents wait as visits of their own do."""
    with ThreadPoolExecutor(6) as pool:
        calls = [pool.submit(call, address, "embed_text", text="lamp") for _ in range(6)]
        assert [each.result().isError for each in calls] == [False] * 6


def test_words_are_embedded_and_compared(address: str) -> None:
    embedded = answer(address, "embed_text", text="lighthouse")["embedding"]
    assert sum(number**2 for number in embedded["vector"]) == pytest.approx(1, abs=1e-3)
    paths = [ASSETS / "words" / name for name in ("bird-awb.ogg", "bad-slt.ogg")]
    recordings = [data_url(path, "audio/ogg") for path in paths]
    spoken = answer(address, "embed_audio", audio=recordings[0])["embedding"]
    assert list(upload_folder().glob(f"{INBOX}*")) == []  # what came inside the call
    assert len(spoken["vector"]) == len(embedded["vector"])
    compared = answer(address, "compare_words", recordings=recordings, written="tree, bird")
    assert [len(row) for row in compared["similarities"]["written"]] == [2, 2]


def test_sounds_are_found_by_a_text(address: str) -> None:
    sounds = answer(address, "search_sounds", text="a dog barks")["sounds"]
    assert len(sounds) == 10
    by_both = [sound["score"] + 2 * sound["words"] for sound in sounds]
    assert by_both == pytest.approx(sorted(by_both, reverse=True), abs=1e-4)


def test_lips_are_read_without_state(address: str) -> None:
    video = data_url(ASSETS / "heads" / "ada.mp4", "video/mp4")
    read = answer(address, "lip_to_speech", video=video)
    assert read.keys() == {"speech", "reading"}
    assert set(read["reading"]) >= {"sentence", "confidence", "words"}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search_sounds", {"text": " "}, "Type what you would like to hear"),
        ("decode", {"units": {"codes": "no"}, "target": "SM1"}, "not a units file"),
        ("embed_text", {}, "Type a word"),
        ("convert", {"audio": "data:audio/wav;base64,AAAA", "target": "SM1"}, "cannot be read"),
        ("encode", {"audio": "/etc/passwd"}, "as a data: URL"),
        ("encode", {"audio": "http://x/gradio_api/file=/etc/passwd"}, "as a data: URL"),
        ("encode", {"audio": "data:rubbish"}, "as a data: URL"),
        ("encode", {"audio": "a\0b"}, "as a data: URL"),
        ("encode", {"audio": "http://x/gradio_api/file=a%00b"}, "as a data: URL"),
        ("compare_words", {"recordings": ["data:,AAAA"] * 9, "written": ""}, "8 files at most"),
        ("compare_words", {"recordings": [0] * 190_000, "written": ""}, "8 files at most"),
        ("encode", {"audio": "http://example.org/a.wav"}, "fetches no addresses"),
        ("decode", {"units": "http://x/gradio_api/file=/etc/passwd", "target": "SM1"}, "data: URL"),
    ],
)
def test_mistaken_call_is_answered_by_sentence(
    address: str, tool: str, arguments: dict, message: str
) -> None:
    result = call(address, tool, **arguments)
    assert result.isError
    assert isinstance(result.content[0], TextContent)
    assert message in result.content[0].text


def test_log_holds_nothing_of_calls(address: str, caplog: pytest.LogCaptureFixture) -> None:
    """Whole messages were written there: 900 kB each, with what visitors said."""
    assert call(address, "no-such-SECRET").isError
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"SECRET": "SECRET"}}
    for each in (message, message | {"method": "SECRET"}):
        reply = httpx.post(f"{address}gradio_api/mcp/", json=each, headers=MCP)
        assert "Invalid request" in reply.text
    assert "SECRET" not in caplog.text


def test_manual_for_agents_lists_every_tool(address: str) -> None:
    """Every tool is listed with its results."""
    page = httpx.get(f"{address}agents.md")
    assert page.headers["content-type"].startswith("text/markdown")
    for name in TOOLS:
        assert f"\n## {name}\n" in page.text
    assert f"{address}gradio_api/mcp/" in page.text
    assert "- `units`: the units, as /decode takes them" in page.text


def test_openapi_describes_every_endpoint(address: str) -> None:
    paths = httpx.get(f"{address}gradio_api/openapi.json").json()["paths"]
    calls = {
        path: about["post"] for path, about in paths.items() if "/call/" in path and "post" in about
    }
    assert len(calls) >= len(TOOLS)
    for path, about in calls.items():
        assert "Returns" in about["summary"], path


def test_units_are_deleted_with_uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    server: Any = SimpleNamespace(blocks=gr.Blocks())
    returned = [{"units": {"notices": [], "codes": [1]}}]
    ToolServer.postprocess_output_data(server, returned, "http://earshot")
    (file,) = tmp_path.glob("*/units.json")
    delete_files_created_by_app(server.blocks, None)
    assert not file.exists()
