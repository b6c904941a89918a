"""Words as a program uses them; what is shown of a word, and what stays where there is none."""

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

import app
from media.audio.load import wav_bytes
from media.paths import ASSETS
from media.text.phonemes import PHONEMES
from tabs.words import tab
from tabs.words.cut import cut_value
from tabs.words.events import WordEvents
from tabs.words.map import COLORS, OTHER, SOUNDS, Layout, first_sound, word_chart
from tabs.words.view import Asked, bar, found, neighbours, shown
from tests.fake_words import RATE, SPOKEN, VOICES, WRITTEN, FakeWords, getters, tone, write_word

TONES = ("˥", "˧˥", "˨˩˦", "˥˩")
LOOK: tuple[Layout, str] = ("pca", COLORS[0])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("library")


@pytest.fixture(scope="module")
def events(folder: Path) -> WordEvents:
    words, library = getters(folder)
    return WordEvents(words, library)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def library(events: WordEvents) -> Any:
    return events.library()


@pytest.fixture(scope="module")
def client(events: WordEvents, folder: Path) -> Iterator[Client]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tabs.words.tab.library_getter", lambda *_: events.library)
        with gr.Blocks() as page:
            tab.build(events.pipeline, folder / "words.index")
    address = app.launch(page, app.options([], {}), block=False)
    yield Client(address, verbose=False)
    page.close()


def happened(**data: Any) -> Any:
    """An event of a component, as its handler gets it."""
    return SimpleNamespace(_data=data)


def test_a_program_finds_the_words_near_a_recording(client: Client, library: Any) -> None:
    sound = handle_file(library.words[0].path)
    heard = client.predict(sound, api_name="/embed_audio")
    assert heard["end"] - heard["start"] == pytest.approx(0.5, abs=0.01)
    near = client.predict(heard["vector"], "written", 3, api_name="/nearest")
    assert [word["word"] for word in near][:2] == ["tree", "three"]
    assert near[0]["cosine"] > near[1]["cosine"] and near[0]["voice"] is None
    spoken = client.predict(heard["vector"], api_name="/nearest")
    assert len(spoken) == 10 and spoken[0]["voice"] in VOICES


def test_a_program_finds_a_typed_word(client: Client) -> None:
    written = client.predict("cat", api_name="/embed_text")
    assert written["phonemes"] == ["k", "æ", "t"] and written["source"] == "dictionary"
    assert np.linalg.norm(written["vector"]) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("vector", [[], [0.0] * 32, ["a"] * 32, [1.0], None, {"a": 1}])
def test_what_is_no_vector_is_refused(client: Client, vector: object) -> None:
    with pytest.raises(AppError, match="list of 32 numbers"):
        client.predict(vector, "spoken", 3, api_name="/nearest")


def test_the_first_look_is_a_finished_example(events: WordEvents) -> None:
    message, asked, line, chart, near, honest, *_ = events.first_look(*LOOK)
    assert message == "" and asked.name == "sheep" and "sheep" in line["html"]
    html = chart.constructor_args["value"]["html"]
    assert html.count('class="map-point"') == len(SPOKEN) * (len(VOICES) + 1)
    assert "threat" not in html, "words without a sound are not on the map"
    assert near["html"].count('data-action="look"') == 20
    assert "0.81" in honest and "k = 10" in honest


def test_of_one_folder_the_page_is_told_one_file(events: WordEvents) -> None:
    chart = events.first_look(*LOOK)[3]
    assert len(chart.constructor_args["value"]["files"]) == 1


def test_a_recording_is_heard_and_may_be_cut_again(events: WordEvents, tmp_path: Path) -> None:
    path = str(write_word(tmp_path / "w.wav", "yellow"))
    message, asked, line, _, near, _, cut, heard, text, recording = events.hear(None, path, *LOOK)
    assert message == "" and text == ""
    assert "Did you say “yellow”?" in line["html"] and "another word" in line["html"]
    assert 'data-used="True"' in cut and 'value="0.20"' in cut
    again = events.recut(asked, heard, *LOOK, happened(start=0.3, end=0.6))
    assert 'value="0.30"' in again[6] and "yellow" in again[2]["html"]
    refused = events.recut(asked, heard, *LOOK, happened(start=0.3, end=0.35))
    assert "too short" in refused[0] and len(refused) == 10


def test_the_map_is_sent_once(events: WordEvents, tmp_path: Path) -> None:
    asked = events.first_look(*LOOK)[1]
    chart = events.find(asked, "cat", None, *LOOK)[3]
    assert "value" not in chart.constructor_args and chart.constructor_args["star"]
    _, _, chart, *_ = events.redraw(asked, "tsne", COLORS[0])
    assert "value" in chart.constructor_args


def test_of_several_words_one_can_be_cut_out(events: WordEvents, tmp_path: Path) -> None:
    times = np.arange(RATE // 2) / RATE
    parts = [np.sin(2 * np.pi * tone(word) * times) / 3 for word in ("cat", "zoo")]
    two = np.concatenate([parts[0][: RATE // 4], np.zeros(RATE), parts[1]])
    path = tmp_path / "two.wav"
    path.write_bytes(wav_bytes(two.astype(np.float32), RATE))
    message, *same, cut, heard, _, _ = events.hear(None, str(path), *LOOK)
    assert "2 words" in message and all(isinstance(update, dict) for update in same)
    assert 'data-used="False"' in cut, "the longest is marked, and waits to be used"
    line = events.recut(None, heard, *LOOK, happened(start=1.26, end=1.74))[2]
    assert "zoo" in line["html"]


@pytest.mark.parametrize(
    ("text", "message"), [("", "Say a word"), ("  \n", "Say a word"), ("42", "letters")]
)
def test_what_is_no_word_changes_nothing(events: WordEvents, text: str, message: str) -> None:
    said, *others = events.find(None, text, None, *LOOK)
    assert message in said and 'role="alert"' in said
    assert others == [gr.skip()] * 9


def test_a_word_that_is_gone_is_missed_plainly(events: WordEvents) -> None:
    assert "no longer" in events.choose(None, *LOOK, happened(id="nothing"))[0]
    assert "no longer" in events.choose(None, *LOOK, happened())[0]


def test_a_neighbour_or_a_guess_leads_on(events: WordEvents) -> None:
    asked = events.choose(None, *LOOK, happened(word="cat-slt", action="look"))[1]
    assert asked.name == "cat" and asked.about == "spoken by slt"
    asked = events.choose(None, *LOOK, happened(word="cat", action="type"))[1]
    assert asked.name == "“cat”" and "dictionary" in asked.about


def test_a_word_is_not_its_own_neighbour(library: Any) -> None:
    asked = Asked.stored(library, "cat-slt")
    assert asked
    _, _, chart, near, _ = shown(asked, FakeWords(), library, *LOOK)  # type: ignore[arg-type]
    assert 'data-word="cat-slt"' not in near["html"]
    assert len(chart.constructor_args["near"]) == 20


def test_neighbours_say_how_many_phonemes_differ(library: Any) -> None:
    asked = Asked("“tree”", np.zeros(32), ("t", "ɹ", "iː"), "")
    side = FakeWords().nearest(library, library.vectors[-1], "written", 16)
    html = neighbours(asked, {"written": side}, library)["html"]  # type: ignore[arg-type]
    rows = dict(re.findall(r"<span>(\w+) <small>.*?near-edits\">(\d)", html))
    assert (rows["tree"], rows["three"], rows["threat"], rows["bat"]) == ("0", "1", "3", "3")
    assert len(rows) == len(WRITTEN)


def test_what_a_visitor_types_is_text() -> None:
    assert "<b>" not in found(Asked("“<b>cat</b>”", np.zeros(2), ("k",), ""))


def test_a_bar_has_its_number() -> None:
    assert "width:87%" in bar(0.87) and "0.87" in bar(0.87)
    assert "width:0%" in bar(-0.2) and "−0.20" in bar(-0.2)


def test_every_phoneme_is_of_one_kind() -> None:
    kinds = {p: first_sound([p]) for p in PHONEMES if p not in TONES}
    assert OTHER not in kinds.values()
    assert set(kinds.values()) == set(SOUNDS)
    assert (kinds["tʃ"], kinds["t"], kinds["ŋ"]) == ("ch j", "p b t d k g", "m n ng")
    assert first_sound([]) == OTHER


@pytest.mark.parametrize("color", COLORS)
def test_every_point_has_a_category_of_the_map(library: Any, color: str) -> None:
    near = [library.words[0], library.words[3]]
    chart = word_chart(library, "pca", color, near)
    categories = {point.category for point in chart.points}
    assert categories <= {*chart.categories, OTHER} and len(categories) > 1
    assert "map-point" in chart.html()


def test_the_voices_of_the_examples_are_there() -> None:
    for name in tab.EXAMPLE_SOUNDS:
        assert list((ASSETS / "words").glob(f"{name}.*")), name


def test_the_cut_is_drawn() -> None:
    html = cut_value(np.zeros(RATE, np.float32), 0.25, 0.75)
    assert html.count('type="range"') == 2 and 'max="1.000"' in html
