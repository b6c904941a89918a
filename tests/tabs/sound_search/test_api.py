"""The endpoints of the sound search tab: what programs send, get and are refused."""

from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from tests.support.sounds import CAPTIONS

pytestmark = pytest.mark.slow


def test_search_sounds_returns_ten_hits(client: Client) -> None:
    """The best come first."""
    hits = client.predict("a dog barks", "", api_name="/search_sounds")
    assert len(hits) == 10
    assert hits[0]["score"] >= hits[-1]["score"]
    assert hits[0]["name"] in CAPTIONS
    assert (hits[0]["kind"], hits[0]["caption"]) == CAPTIONS[hits[0]["name"]]
    assert len(hits[0]["seconds"]) == 2


def test_similar_sounds_returns_sound_itself_first(client: Client, index: Path) -> None:
    sound = handle_file(index.parent / "sounds" / "bell.wav")
    hits = client.predict(sound, "", "", api_name="/similar_sounds")
    assert hits[0]["name"] == "bell.wav" and hits[0]["score"] == pytest.approx(1, abs=1e-3)
    assert hits[0]["notices"] == []


def test_similar_sounds_notices_damaged_file(client: Client, index: Path, tmp_path: Path) -> None:
    """Plachtaa/Seed-VC#59: a file that was cut off passed for a whole one."""
    whole = (index.parent / "sounds" / "bell.wav").read_bytes()
    (cut := tmp_path / "cut.wav").write_bytes(whole[: 2 * len(whole) // 3])
    hits = client.predict(handle_file(cut), "", "", api_name="/similar_sounds")
    assert all("ends early" in hit["notices"][0] for hit in hits)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "Type what"), ("x" * 10_000, "too long"), ("🐕🌧", "words"), (" \n", "Type what")],
)
def test_search_sounds_refuses_unusable_text(client: Client, text: str, message: str) -> None:
    with pytest.raises(AppError, match=message):
        client.predict(text, "", api_name="/search_sounds")


def test_similar_sounds_refuses_server_file(client: Client) -> None:
    hidden = {"path": "/etc/hostname", "meta": {"_type": "gradio.FileData"}}
    with pytest.raises(AppError):
        client.predict(hidden, "", "", api_name="/similar_sounds")


def test_endpoints_name_their_parameters_and_returns(client: Client) -> None:
    api: Any = client.view_api(return_format="dict")
    named = api["named_endpoints"]
    for name, parameters in (
        ("/search_sounds", ["text", "without"]),
        ("/similar_sounds", ["audio", "text", "without"]),
    ):
        assert [p["parameter_name"] for p in named[name]["parameters"]] == parameters
        assert [value["label"] for value in named[name]["returns"]] == ["sounds"]


def test_search_sounds_returns_both_parts(client: Client) -> None:
    hits = client.predict("a dog barks, then a bell rings", "", api_name="/search_sounds")
    parts = hits[0]["parts"]
    assert [part["text"] for part in parts] == ["a dog barks", "a bell rings"]
    assert parts[0]["start"] < parts[1]["start"] and len(parts[0]["seconds"]) == 2
