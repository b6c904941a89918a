"""Finding a word in a long recording: the Timeline, its files, endpoints, and refused inputs."""

import csv
from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import numpy as np
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from earshot.media.audio.load import wav_bytes
from earshot.systems.words import Words
from earshot.systems.words.word_search import FoundPlaces, LongRecording, Place
from earshot.tabs.words.events import WordAPI
from earshot.tabs.words.find import NO_WORD, FindSection, view
from tests.support.fake_words import getters, write_word
from tests.support.serving import close

pytestmark = pytest.mark.slow

RATE = 16_000


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six seconds of something like syllables."""
    time = np.arange(6 * RATE) / RATE
    waveform = 0.2 * np.sin(2 * np.pi * (300 + 200 * np.sin(9 * time)) * time)
    path = tmp_path_factory.mktemp("speech") / "talk.wav"
    path.write_bytes(wav_bytes((waveform * (np.sin(15 * time) > -0.3)).astype(np.float32), RATE))
    return path


@pytest.fixture(scope="module")
def client(tiny_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    words = Words.from_pretrained(tiny_checkpoints / "words", "cpu")
    with gr.Blocks() as page:
        FindSection(lambda: words)
        api = WordAPI(*getters(tmp_path_factory.mktemp("library")))  # type: ignore[arg-type]
        api.declare(gr.Audio(type="filepath"), gr.Textbox())
    _, address, _ = page.launch(prevent_thread_lock=True)
    yield Client(address, verbose=False)
    close(page)


def test_find_word_gives_best_places_first(client: Client, speech: Path) -> None:
    answer = client.predict(handle_file(speech), "hello", None, api_name="/find_word")
    assert answer["seconds"] == pytest.approx(6, abs=0.01)
    scores = [place["score"] for place in answer["places"]]
    assert scores and scores == sorted(scores, reverse=True)
    assert all(0 <= place["start"] < place["end"] <= 6 for place in answer["places"])


def test_find_word_says_recording_ends_early(client: Client, speech: Path, tmp_path: Path) -> None:
    whole, cut = speech.read_bytes(), tmp_path / "cut.wav"
    cut.write_bytes(whole[: len(whole) // 2])
    whole_notices, cut_notices = (
        client.predict(handle_file(path), "hello", None, api_name="/find_word")["notices"]
        for path in (speech, cut)
    )
    assert whole_notices == []
    assert len(cut_notices) == 1 and "ends early" in cut_notices[0]


@pytest.mark.parametrize(
    ("text", "message"), [("", NO_WORD), ("🐕", "no word"), ("x" * 99, "most")]
)
def test_find_word_refuses_unusable_word(
    client: Client, speech: Path, text: str, message: str
) -> None:
    """The message says why."""
    with pytest.raises(AppError, match=message):
        client.predict(handle_file(speech), text, None, api_name="/find_word")


def test_view_shows_found_places(speech: Path) -> None:
    """It offers both files of them."""
    recording = LongRecording(np.ones(6 * RATE, np.float32), (np.zeros((150, 3), np.float32),))
    places = Place(4, 4.5, 0.9), Place(1, 1.4, 0.8), Place(2, 2.3, 0.2)
    value = view(str(speech), recording, "<tree>", FoundPlaces(places, threshold=0.5))
    assert "2 places of “&lt;tree&gt;”" in value["html"] and value["html"].count("score 0.") == 2
    assert (
        'download="places.csv"' in value["html"] and 'download="places.TextGrid"' in value["html"]
    )
    assert 'data-start="4.00"' in value["html"]  # where it is surest
    none = view(str(speech), recording, "tree", FoundPlaces(places, threshold=0.95))
    assert "Nearest places of “tree”" in none["html"]
    assert none["html"].count("score 0.") == 3


def test_time_is_rounded_to_next_minute(speech: Path) -> None:
    recording = LongRecording(np.ones(61 * RATE, np.float32), (np.zeros((1500, 3), np.float32),))
    places = FoundPlaces((Place(59.97, 60.4, 0.9),), threshold=0.5)
    assert 'aria-label="1:00.0, score' in view(str(speech), recording, "tree", places)["html"]


def test_view_of_ten_minutes_stays_small(speech: Path) -> None:
    waveform = np.random.default_rng(0).random(600 * RATE).astype(np.float32)
    recording = LongRecording(waveform, (np.zeros((15_000, 3), np.float32),))
    assert len(view(str(speech), recording, "tree", FoundPlaces((), 0.5))["html"]) < 600_000


def test_embed_words_gives_row_per_file(client: Client, tmp_path: Path) -> None:
    """It says which files failed."""
    good = write_word(tmp_path / "ship.wav", "ship")
    bad = tmp_path / "notes.txt"
    bad.write_text("no sound")
    half = tmp_path / "half.wav"
    half.write_bytes(good.read_bytes()[:-12_000])
    files = [handle_file(path) for path in (good, bad, half)]
    table = Path(client.predict(files, api_name="/embed_words")).read_bytes()
    assert table.startswith(b"\xef\xbb\xbf"), "by which spreadsheets know UTF-8"
    one, other, cut = csv.DictReader(table.decode("utf-8-sig").splitlines())
    assert (one["file"], one["word_1"]) == ("ship.wav", "ship")
    vector = np.array([float(one[f"v{i}"]) for i in range(32)])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)
    assert other["file"] == "notes.txt" and "audio" in other["error"] and other["v0"] == ""
    assert (one["notices"], cut["error"]) == ("", "") and "ends early" in cut["notices"]


def test_answers_to_programs_omit_microphone(client: Client, tmp_path: Path) -> None:
    """Plachtaa/Seed-VC#59, and a silent file: a program can neither check it nor speak again."""
    silent = tmp_path / "silent.wav"
    silent.write_bytes(wav_bytes(np.zeros(RATE, np.float32), RATE))
    with pytest.raises(AppError, match="is silent") as caught:
        client.predict(handle_file(silent), api_name="/embed_audio")
    assert "microphone" not in str(caught.value)


def test_embed_words_without_files_is_refused(client: Client) -> None:
    with pytest.raises(AppError, match="no recordings"):
        client.predict([], api_name="/embed_words")
