"""Levels that raters set: within the ends of the YAML, from a start that is drawn, in dB."""

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater, write_test
from earshot.media.audio.load import wav_bytes
from earshot.study.analysis import analyse
from earshot.study.analysis.report.page import page
from earshot.study.analysis.report.pdf import document
from earshot.study.assignment import start_of
from earshot.study.design.folder import describe
from earshot.study.design.form import Form
from earshot.study.design.spec import SpecError, load
from earshot.study.reproduction import reproduce
from earshot.study.simulation import simulate
from earshot.study.sounds.stimuli import check
from earshot.study.storage import dataset
from earshot.study.storage.export import lines
from earshot.study.web.server import app, library


def test_levels_are_set_within_the_ends(tmp_path: Path) -> None:
    known_answer = {"sounds": "fine/cat.wav", "expected": -3, "reference": "reference/cat.wav"}
    write_test(tmp_path / "set", "adjustment", gain=[-6, 2], practice=[known_answer])
    tests = library(tmp_path, min_time=0)
    test = tests.open("set").test
    with TestClient(app(tests)) as client:
        rater = Rater(client, "set")
        first, *others = rater.session()["trials"]
        assert first["sliders"] and first["together"] and first["sounds"] == 2
        assert first["question"] == "Set the sound as loud as the reference."
        for damaged in (-7, 3, 1.5, "a", None, True, [-3], {"adjustment": -3}):
            assert rater.answer(first, damaged).status_code == 422, damaged
        assert rater.answer(first, -5).json()["lesson"] == {"right": True, "answer": -3}
        hash_of = tests.store.resume(test, rater.token)
        assert hash_of
        starts = [trial["gain"]["start"] for trial in others]
        assert starts == [start_of(test, hash_of.id, trial["order"]) for trial in others]
        assert {start_of(test, str(n), 1) for n in range(100)} == {*range(-6, 3)}
        for trial in others:
            item = tests.store.item(test, rater.token, trial["order"])
            assert item and rater.answer(trial, -6 if "fine" in item.systems else 2)
    table = tests.store.ratings(test)
    by_system = table[table["kind"] == "trial"].groupby("system")["answer"].unique()
    assert {name: list(each) for name, each in by_system.items()} == {"fine": [-6], "rough": [2]}


def test_report_has_means_in_db_and_own_spread(tmp_path: Path) -> None:
    test = load(write_test(tmp_path / "set", "adjustment", gain=[-6, 2]))
    tests = library(tmp_path)
    simulate(test, tests.store, 6, 0)
    results = analyse(test, tests.store.ratings(test), conduct=tests.store.conduct(test))
    systems = results.included.systems.set_index("system")
    answers: Any = results.included.answers
    own = answers[answers["system"] == "fine"].groupby("rater")["answer"]
    spread = math.sqrt(own.var().mean())  # all have answered equally often
    assert systems.loc["fine", "own_spread"] == pytest.approx(spread)
    assert (systems["low"] < systems["value"]).all() and systems["value"].between(-6, 2).all()
    text = page(results)
    assert "fine was set highest" in text and "gain −" not in text and "SD of a rater" in text
    assert "a gain of -6 to +2 dB" in text and document(results).startswith(b"%PDF")
    file = tmp_path / "set.zip"
    dataset.zipped(test, tests.store, file)
    second = reproduce(file)
    assert second.different == () and second.figures > 100
    table = tests.store.ratings(test)
    starts = [start_of(test, *each) for each in zip(table["rater"], table["order"], strict=True)]
    assert table["start"].tolist() == starts and len({*starts}) > 3
    rater = next(line["rater"] for line in lines(test, tests.store) if "rater" in line)
    assert [each["start"] for each in rater["items"]] == [
        start_of(test, rater["id"], each["order"]) for each in rater["items"]
    ]
    published = dataset.ratings(test, table)
    assert published["start"].tolist() == starts and "level" not in published
    described = dataset.dictionary(test, {})
    assert "start" in [*described["column"]], "the dictionary has it"
    with zipfile.ZipFile(file) as archive:
        assert b'"gain": [-6, 2]' in archive.read("set/data/raw/set.jsonl")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"gain": [2, -6]}, "the second 2 or more above"),
        ({"gain": [0, 1]}, "the second 2 or more above"),
        ({"gain": [-6]}, "must be two whole numbers"),
        ({"gain": [-61, 0]}, "-60 to 40"),
        ({"gain": [-6, 0.5]}, "a whole number, and is 0.5"),
        ({"gain": -6}, "must be a list"),
        ({"design": "acr", "gain": [-6, 2]}, "belongs to adjustment"),
        ({"gain": [-6, 2], "gold": [{"sounds": "fine/cat.wav", "expected": 3}]}, "-6 to 2"),
        ({"scales": {"quality": None}}, "has one scale"),
        ({"words": ["a", "b"]}, "has no words"),
    ],
)
def test_what_no_level_can_be_is_refused(
    more: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    more = {"design": "adjustment", **more}
    with pytest.raises(SpecError, match=sentence):
        load(write_test(tmp_path / "set", **more))


def test_no_sound_is_too_loud_for_a_gain(tmp_path: Path) -> None:
    """The page plays all sounds softer by the largest gain."""
    folder = write_test(tmp_path / "set", "adjustment", gain=[-20, 30], practice=0)
    for sound in (folder / "fine").glob("*.wav"):
        wave = 0.7 * np.sin(2 * np.pi * 300 * np.arange(3200) / 16_000)
        sound.write_bytes(wav_bytes(wave.astype(np.float32), 16_000))
    assert check(load(folder)) == []


def test_form_makes_one_without_more_fields(tmp_path: Path) -> None:
    folder = write_test(tmp_path / "set", "acr")
    form = Form(design="adjustment", consent="Taking part is voluntary.")
    (folder / "test.yaml").write_text(describe(folder, form))
    assert load(folder).gain == (-20, 6)
    assert "set its level by a slider" in form.raters_words()[1]
    assert form.raters_words()[0] == "They hear one recording, again and again."
    assert form.raters_words(True)[0] == "They hear a reference and a recording, again and again."
    assert "one of which is the reference" in Form(design="abx").raters_words(True)[0]
