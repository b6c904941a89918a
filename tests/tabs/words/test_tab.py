"""The words tab: endpoints, handlers, and what is shown of a query."""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from earshot.app import launch
from earshot.core.errors import InputError
from earshot.core.paths import ASSETS, CHECKPOINTS, ROOT
from earshot.media.audio.load import wav_bytes
from earshot.media.text.phonemes import PHONEMES
from earshot.systems.registry import Offer
from earshot.systems.words.library import WordLibrary
from earshot.tabs.shared.confidence import certainty
from earshot.tabs.shared.events import reporting
from earshot.tabs.shared.html import macro
from earshot.tabs.shared.services import Services
from earshot.tabs.words import events as handlers
from earshot.tabs.words import tab
from earshot.tabs.words.events import WordSection, unrecorded
from earshot.tabs.words.panel import PANELS, cut_value
from earshot.tabs.words.view import (
    OTHER,
    SOUNDS,
    Query,
    first_sound,
    heading,
    is_doubtful,
    neighbours,
    view_of,
    word_chart,
)
from tests.support.fake_words import (
    RATE,
    SPOKEN,
    VOICES,
    WRITTEN,
    FakeWords,
    getters,
    tone,
    write_word,
)
from tests.support.serving import close

pytestmark = pytest.mark.slow

TONES = ("˥", "˧˥", "˨˩˦", "˥˩")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("library")


@pytest.fixture(scope="module")
def events(folder: Path) -> WordSection:
    words, library = getters(folder)
    with gr.Blocks():
        section = WordSection(words, library, folder, None)  # type: ignore[arg-type]
        section.lay_out_neighbours()
        return section


@pytest.fixture(scope="module")
def page(events: WordSection) -> WordSection:
    return events


def shown_error(events: WordSection, handler: Any, *inputs: Any) -> str:
    """The message of a handler that fails; nothing else may change."""
    answer = reporting(handler, events.message)(*inputs)
    assert set(answer) == {events.message}
    assert 'role="alert"' in answer[events.message]
    return answer[events.message]


@pytest.fixture(scope="module")
def library(events: WordSection) -> Any:
    return events.library()


@pytest.fixture(scope="module")
def client(events: WordSection, folder: Path) -> Iterator[Client]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("earshot.tabs.words.tab.library_getter", lambda *_: events.library)
        with gr.Blocks() as page:
            tab.build(
                Offer(lambda _: events.pipeline(), {"words": "Words"}),
                folder / "words.index",
                Services(),
            )
    address = launch.launch(page, launch.options([], {}), block=False)
    yield Client(address, verbose=False)
    close(page)


def happened(**data: Any) -> Any:
    """An event of a component, as its handler gets it."""
    return SimpleNamespace(_data=data)


def test_endpoints_find_neighbours_of_recording(client: Client, library: Any) -> None:
    sound = handle_file(library.words[0].path)
    spoken_word = client.predict(sound, api_name="/embed_audio")
    assert spoken_word["end"] - spoken_word["start"] == pytest.approx(0.5, abs=0.01)
    near = client.predict(spoken_word["vector"], "written", 3, api_name="/nearest")
    assert [word["word"] for word in near][:2] == ["tree", "three"]
    assert near[0]["cosine"] > near[1]["cosine"] and near[0]["voice"] is None
    spoken = client.predict(spoken_word["vector"], api_name="/nearest")
    assert len(spoken) == 10 and spoken[0]["voice"] in VOICES


def test_embed_text_gives_phonemes_and_vector(client: Client) -> None:
    written = client.predict("cat", api_name="/embed_text")
    assert written["phonemes"] == ["k", "æ", "t"] and written["source"] == "dictionary"
    assert np.linalg.norm(written["vector"]) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    "vector", [[], [0.0] * 32, ["a"] * 32, [10**400] * 32, [1.0], None, {"a": 1}]
)
def test_nearest_refuses_what_is_no_vector(client: Client, vector: object) -> None:
    with pytest.raises(AppError, match="list of 32 numbers"):
        client.predict(vector, "spoken", 3, api_name="/nearest")


@pytest.mark.parametrize(("limit", "count"), [(3, 3), (0, 1), (10**400, 100), (math.inf, 100)])
def test_count_is_from_1_to_100(limit: float, count: int) -> None:
    assert handlers._count(limit) == count


@pytest.mark.parametrize("limit", [None, "\0", [3], math.nan])
def test_count_must_be_number(limit: object) -> None:
    with pytest.raises(InputError, match="from 1 to 100"):
        handlers._count(limit)


def test_endpoints_name_their_parameters_and_returns(client: Client) -> None:
    api: Any = client.view_api(return_format="dict")
    names = {
        name: ([p["parameter_name"] for p in e["parameters"]], [r["label"] for r in e["returns"]])
        for name, e in api["named_endpoints"].items()
    }
    assert names["/embed_audio"] == (["audio"], ["embedding"])
    assert names["/embed_text"] == (["text"], ["embedding"])
    assert names["/nearest"] == (["vector", "view", "limit"], ["neighbours"])
    assert names["/compare_words"] == (["recordings", "written"], ["similarities"])


def test_first_look_shows_a_finished_example(events: WordSection, page: WordSection) -> None:
    answer = events.first_look()
    assert answer[page.message] == "" and answer[page.query].name in SPOKEN
    assert answer[page.query].name in answer[page.heading]["html"]
    chart = answer[page.chart].constructor_args["value"]
    assert chart["html"].count('class="map-point"') == len(SPOKEN) * (len(VOICES) + 1)
    assert "threat" not in chart["html"], "words without a sound are not on the map"
    assert len(chart["files"]) == 1, "all sounds are in one folder"
    assert answer[page.neighbours]["html"].count('data-action="look"') == 20
    assert "0.96" in chart["html"] and "k = 10" in chart["html"]


def test_recognised_recording_can_be_cut_again(
    events: WordSection, page: WordSection, tmp_path: Path
) -> None:
    path = str(write_word(tmp_path / "w.wav", "yellow"))
    answer = events.record(path, None)
    assert answer[page.message] == "" and answer[page.text] == ""
    assert page.recording not in answer, "the recorder keeps its sound"
    html = answer[page.heading]["html"]
    assert "Did you say “yellow”?" in html and "another word" in html
    assert 'data-used="True"' in answer[page.cut] and 'value="0.20"' in answer[page.cut]
    recorded = answer[page.recorded]
    again = events.recut(recorded, None, happened(start=0.3, end=0.6))
    assert 'value="0.30"' in again[page.cut] and "yellow" in again[page.heading]["html"]
    short = happened(start=0.3, end=0.35)
    assert "too short" in shown_error(events, events.recut, recorded, None, short)


def test_map_is_sent_once(events: WordSection, page: WordSection) -> None:
    assert "value" in events.first_look()[page.chart].constructor_args
    chart = events.search("cat", None, None)[page.chart]
    assert "value" not in chart.constructor_args and chart.constructor_args["marker"]


def test_visitor_goes_back_to_own_word(
    events: WordSection, page: WordSection, tmp_path: Path
) -> None:
    """What was said and typed stays; from word to word of the library the way back stays too."""
    own = events.record(str(write_word(tmp_path / "w.wav", "yellow")), None)[page.query]
    first = events.choose(own, happened(id="cat-slt"))
    assert 'data-action="back"' in first[page.heading]["html"]
    assert not {page.text, page.recording, page.cut} & set(first)
    second = events.choose(first[page.query], happened(word="zoo-awb", action="look"))
    back = events.choose(second[page.query], happened(action="back"))
    assert back[page.query].guesses == own.guesses and "yellow" in back[page.heading]["html"]
    example = events.first_look()[page.query]
    assert "back" not in events.choose(example, happened(id="cat-slt"))[page.heading]["html"]


@pytest.mark.parametrize(
    ("probability", "word"), [(0.95, "sure"), (0.5, "likely"), (0.1, "a guess")]
)
def test_certainty_is_said_in_words(probability: float, word: str) -> None:
    assert certainty(probability) == word


def test_recording_of_several_words_proposes_cut(
    events: WordSection, page: WordSection, tmp_path: Path
) -> None:
    times = np.arange(RATE // 2) / RATE
    parts = [np.sin(2 * np.pi * tone(word) * times) / 3 for word in ("cat", "zoo")]
    two = np.concatenate([parts[0][: RATE // 4], np.zeros(RATE), parts[1]])
    path = tmp_path / "two.wav"
    path.write_bytes(wav_bytes(two.astype(np.float32), RATE))
    answer = events.record(str(path), None)
    assert set(answer) == {page.message, page.cut, page.recorded, page.text}
    assert "2 words" in answer[page.message]
    assert 'data-used="False"' in answer[page.cut], "the longest is marked, and waits to be used"
    cut = happened(start=1.26, end=1.74)
    assert "zoo" in events.recut(answer[page.recorded], None, cut)[page.heading]["html"]


@pytest.mark.parametrize(
    ("text", "message"), [("", "Say a word"), ("  \n", "Say a word"), ("42", "letters")]
)
def test_search_without_word_changes_only_message(
    events: WordSection, text: str, message: str
) -> None:
    assert message in shown_error(events, events.search, text, None, None)


@pytest.mark.parametrize("data", [{"id": "nothing"}, {}])
def test_choose_of_missing_word_says_so(events: WordSection, data: dict) -> None:
    assert "no longer" in shown_error(events, events.choose, None, happened(**data))


def test_choose_follows_neighbour_or_recognised_word(
    events: WordSection, page: WordSection
) -> None:
    query = events.choose(None, happened(word="cat-slt", action="look"))[page.query]
    assert query.name == "cat" and query.about == "spoken by voice 1, synthetic"
    query = events.choose(None, happened(word="cat", action="type"))[page.query]
    assert query.name == "“cat”" and "dictionary" in query.about


def test_view_of_word_leaves_itself_out(library: Any) -> None:
    query = Query.stored(library, "cat-slt")
    assert query
    view = view_of(query, FakeWords(), library)  # type: ignore[arg-type]
    assert 'data-word="cat-slt"' not in view.neighbours["html"]
    assert len(view.marker.highlighted) == 20 and len(view.marker.places) == 2


def test_neighbours_show_edit_distance_in_phonemes(library: Any) -> None:
    query = Query("“tree”", np.zeros(32), ("t", "ɹ", "iː"), "")
    side = FakeWords().nearest(library, library.vectors[-1], "written", 16)
    html = neighbours(query, {"written": side}, library)["html"]  # type: ignore[arg-type]
    rows = dict(re.findall(r"<span>(\w+) <small>.*?near-edits near-numbers\">(\d)", html, re.S))
    assert (rows["tree"], rows["three"], rows["threat"], rows["bat"]) == ("0", "1", "3", "3")
    assert len(rows) == len(WRITTEN)


def test_found_escapes_what_a_visitor_types() -> None:
    assert "<b>" not in heading(Query("“<b>cat</b>”", np.zeros(2), ("k",), ""))


def test_hint_has_what_was_measured_of_each_language(tmp_path: Path) -> None:
    """The shipped figures are those of the shipped row of docs/words.md."""
    checkpoint = tmp_path / "words"
    checkpoint.mkdir()
    assert unrecorded(checkpoint) == ""
    metrics, unseen = checkpoint / "metrics.json", {"en": 0.93}
    metrics.write_text(json.dumps({"unseen_p_at_1": unseen}))
    assert unrecorded(checkpoint) == ""
    unseen |= {"ar": 0.386, "zh": 0.86}
    metrics.write_text(json.dumps({"unseen_p_at_1": unseen}))
    assert "93% in English, 86% in Mandarin and 39% in Arabic (among 96)." in unrecorded(checkpoint)

    lines = (ROOT / "docs" / "words.md").read_text("utf-8").splitlines()
    heads = next(line for line in lines if "zero-shot, English, P@1" in line).split("|")
    row = next(line for line in lines if line.startswith("| phonemes, words-bottleneck (default)"))
    cells = dict(zip(map(str.strip, heads), map(str.strip, row.split("|")), strict=True))
    for name in ("English", "Mandarin", "Arabic"):
        assert f"{float(cells[f'zero-shot, {name}, P@1']):.0%} in {name}" in unrecorded(
            CHECKPOINTS / "words"
        )


def test_bar_shows_its_number() -> None:
    high, low = macro(PANELS, "bar", 0.87), macro(PANELS, "bar", -0.2)
    assert "width:87%" in high and "0.87" in high
    assert "width:0%" in low and "−0.20" in low


def test_first_sound_knows_every_phoneme() -> None:
    kinds = {p: first_sound([p]) for p in PHONEMES if p not in TONES}
    assert OTHER not in kinds.values()
    assert set(kinds.values()) == set(SOUNDS)
    assert (kinds["tʃ"], kinds["t"], kinds["ŋ"]) == ("ch j", "p b t d k g", "m n ng")
    assert first_sound([]) == OTHER


def test_word_chart_categorises_every_point(library: Any) -> None:
    chart = word_chart(library)
    assert [layout.name for layout in chart.layouts] == ["t-SNE", "PCA"]
    assert all(len(layout.places) == len(chart.points) for layout in chart.layouts)
    names = {coloring.name: coloring for coloring in chart.colorings}
    assert not names["nearest words"].of
    voices = names["voice"]
    assert [*voices.categories] == ["voice 1", "voice 3", "voice 4", "written"]
    for coloring in (names["first sound"], voices, names["spoken or written"]):
        assert len(coloring.of) == len(chart.points)
        assert set(coloring.of) <= {*coloring.categories, coloring.rest}
    assert "map-point" in chart.html()


def test_how_often_nearest_recordings_are_of_the_same_word() -> None:
    """The page says so of the recording that is shown first, which nobody chose."""
    fingerprint = json.loads((ASSETS / "words.index" / "about.json").read_text())["fingerprint"]
    library = WordLibrary.open(ASSETS / "words.index", fingerprint)
    assert library.same_word_share >= 0.8
    share = f"{library.same_word_share:.0%}"
    words: Any = SimpleNamespace(
        nearest=lambda library, vector, view, limit: [
            SimpleNamespace(word=library.words[row], cosine=cosine)
            for cosine, row in zip(*library.search(vector, view, limit), strict=True)
        ]
    )
    spoken = [word for word in library.words if word.voice]
    notes = []
    for word in Random(0).sample(spoken, 60):
        query = Query.stored(library, word.id)
        assert query
        html = view_of(query, words, library).heading["html"]
        [near] = [line for line in html.split("<p>") if "nearest" in line]
        notes.append("is the same word" in near)
        assert (share in near) == notes[-1]
    assert 0.65 < np.mean(notes) < 0.95


def test_typed_word_may_be_said_next(
    events: WordSection, page: WordSection, tmp_path: Path
) -> None:
    """The library does not have it."""
    typed = events.search("snorkel", None, None)[page.query]
    path = str(write_word(tmp_path / "w.wav", "yellow"))
    assert "snorkel" not in [g.spelling for g in events.record(path, None)[page.query].guesses]
    spoken = events.record(path, typed)[page.query]
    assert "snorkel" in [guess.spelling for guess in spoken.guesses]
    chosen = events.choose(spoken, happened(id="cat-slt"))[page.query]
    back = events.choose(chosen, happened(action="back"))[page.query]
    assert [word.spelling for word in back.typed_words] == ["snorkel"]


@pytest.mark.parametrize(
    ("spelling", "doubtful"),
    [
        ("zxcvb", True),
        ("asdfghjkl", True),
        ("the xq", True),
        ("snorkelish", False),
        ("tryst", False),
    ],
)
def test_what_is_hardly_a_word_is_doubted(spelling: str, doubtful: bool) -> None:
    assert is_doubtful(spelling) == doubtful


def test_cut_value_has_two_handles() -> None:
    html = cut_value(np.zeros(RATE, np.float32), 0.25, 0.75)
    assert html.count('type="range"') == 2 and 'max="1.000"' in html
