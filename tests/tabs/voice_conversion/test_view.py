"""A result's edits, its undo, and the example that is kept with the page."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from earshot.systems.voice_conversion import Converter, VoiceConversion
from earshot.tabs.voice_conversion import view
from earshot.tabs.voice_conversion.speaking import Speaking
from earshot.tabs.voice_conversion.view import ConversionResult

RATE = 16_000


@pytest.fixture(scope="module")
def pipeline(tiny_checkpoints: Path) -> Converter:
    return VoiceConversion.from_pretrained(tiny_checkpoints / "vqvae-128", "cpu")


@pytest.fixture
def result(pipeline: Converter) -> ConversionResult:
    noise = (0.1 * np.random.default_rng(0).standard_normal(RATE)).astype(np.float32)
    return ConversionResult.of(pipeline((RATE, noise), "SM1", "neural"), pipeline, Speaking("SM1"))


def test_result_numbers_are_rate_and_compression(result: ConversionResult) -> None:
    assert result.numbers.startswith("25 units · 175 bit/s · 1,463× smaller than 16-bit PCM · ")
    assert result.numbers.endswith("× real time")
    assert "<b>175</b> bit/s" in result.line()


def test_edited_result_is_stale_until_synthesised(
    result: ConversionResult, pipeline: Converter
) -> None:
    """The edit can be undone."""
    shorter = result.edited(result.units.at(np.arange(10)))
    assert shorter.stale and not result.stale
    assert "not spoken yet" in shorter.timeline(answer=False).html()
    assert "not spoken yet" not in result.timeline(answer=False).html()
    spoken = shorter.respoken(pipeline.decode(shorter.units, "TF2"), Speaking("TF2"))
    assert not spoken.stale
    assert spoken.converted.seconds == pytest.approx(0.4)
    assert spoken.numbers.startswith("10 units · 0.4 s of speech · ")
    undone = spoken.undone()
    assert undone.stale and not undone.past
    assert np.array_equal(undone.units.codes, result.units.codes)
    assert undone.undone() is undone


def test_source_stays_an_ingredient_of_what_is_spoken_again(
    result: ConversionResult, pipeline: Converter
) -> None:
    signed = replace(result, ingredient=b"signed").edited(result.units.at(np.arange(10)))
    origin = signed.speak(pipeline, Speaking("TF2")).origin
    assert origin and origin.ingredient == b"signed" and origin.model == pipeline.name


def test_result_keeps_limited_edits_to_undo(result: ConversionResult) -> None:
    for _ in range(view.MAX_UNDO + 5):
        result = result.edited(result.units)
    assert len(result.past) == view.MAX_UNDO


def test_loaded_units_have_no_source(result: ConversionResult, pipeline: Converter) -> None:
    loaded = ConversionResult.loaded(
        result.units, pipeline.decode(result.units), pipeline, Speaking("TF2")
    )
    spec = loaded.timeline(answer=True)
    assert list(spec.answer) == [0]
    assert [track.name for track in spec.tracks] == ["Converted"]
    assert len(spec.lanes) == 3


def test_result_downloads_are_what_is_shown(result: ConversionResult) -> None:
    """They are the sound and its units."""
    wav, units = result.timeline(answer=False).downloads
    assert isinstance(wav.content, bytes) and isinstance(units.content, bytes)
    assert wav.content[:4] == b"RIFF" and wav.file_name == "converted.wav"
    assert json.loads(units.content)["codes"] == result.units.codes.tolist()


def test_finished_example_is_read_as_written(
    result: ConversionResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "FINISHED", tmp_path / "finished.json")
    assert view.read_finished() is None
    view.write_finished(result)
    again = view.read_finished()
    assert again is not None
    assert again.units.to_json() == result.units.to_json()
    assert again.line() == result.line()
    html = [each.timeline(answer=True).value()["html"] for each in (again, result)]
    assert html[0] == html[1]


def test_first_card_shows_the_finished_example() -> None:
    """Without a script of Gradio's, and nothing where there is no example."""
    html = view.first_card("<h1>Earshot</h1>", "example")
    result = view.read_finished()
    assert result and f"As {result.voice} · AI-modified voice" in html
    assert html.count("<audio controls") == 2 and "example/finished-converted.ogg" in html
    stops = html.partition("linear-gradient(90deg, ")[2].partition(")")[0].split(", ")
    first, last = stops[0].split(), stops[-1].split()
    assert first[0] == result.colors[result.units.codes[0]]
    assert (first[1], last[2]) == ("0.00%", "100.00%")


def test_no_finished_example_is_no_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "FINISHED", tmp_path / "none.json")
    assert not view.first_card("", "")


def test_shipped_model_synthesises_finished_example() -> None:
    example = view.read_finished()
    assert example is not None
    pipeline = VoiceConversion.from_pretrained(example.units.model, "cpu")
    way = example.target, example.vocoder, pipeline.intonations[0]
    speech = pipeline.decode(example.units, *way)
    assert len(speech.waveform) / speech.sample_rate == pytest.approx(example.converted.seconds)
