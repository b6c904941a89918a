"""Same or different? What a threshold shows, with a curve and without."""

import re
from typing import Any

import gradio as gr
import pytest

from tabs.words.threshold import NAMES, ThresholdEvents, threshold_section
from tests.fake_words import FakeLibrary, FakeWords

CURVE = {"threshold": [0.2, 0.6, 0.9], "precision": [0.5, 0.9, 1.0], "recall": [1.0, 0.8, 0.3]}


class Measured(FakeWords):
    def __init__(self, curve: dict | None) -> None:
        self.operating_curve = curve


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> FakeLibrary:
    return FakeLibrary(tmp_path_factory.mktemp("library"))


def room(library: FakeLibrary, curve: dict | None = CURVE) -> ThresholdEvents:
    words: Any = Measured(curve)
    there: Any = library
    return ThresholdEvents(lambda: words, lambda: there)


def test_it_begins_at_the_threshold_of_the_model(library: FakeLibrary) -> None:
    message, threshold, panel = room(library).first_look(0)
    assert (message, threshold) == ("", FakeWords.threshold)
    assert "<b>90</b>" in panel["html"] and "<b>80</b>" in panel["html"]
    assert room(library).first_look(0.3)[1] == 0.3


def test_pairs_stand_on_their_side(library: FakeLibrary) -> None:
    _, panel = room(library).move(0.5)
    sides = panel["html"].split('class="side"')[1:]
    assert [re.findall("<h4>(.*?)</h4>", side)[0] for side in sides] == [
        NAMES[same, above] for above in (True, False) for same in (True, False)
    ]
    for above, side in zip((True, True, False, False), sides, strict=True):
        cosines = [float(number) for number in re.findall(r">(-?[\d.]+)</button></li>", side)]
        assert all((cosine >= 0.5) == above for cosine in cosines)
    numbers = {int(n) for pair in re.findall(r"@file(\d+)", panel["html"]) for n in [pair]}
    assert numbers == set(range(len(panel["files"])))


def test_without_a_curve_it_says_so(library: FakeLibrary) -> None:
    _, panel = room(library, None).move(0.5)
    assert (
        "was not measured" in panel["html"]
        and "<svg viewBox=" not in panel["html"].split("side")[0]
    )
    assert panel["html"].count('class="side"') == 4


@pytest.mark.parametrize("threshold", [0.0, 1.0, float("nan")])
def test_every_threshold_has_an_answer(library: FakeLibrary, threshold: float) -> None:
    message, panel = room(library).move(threshold)
    assert message == "" and panel["html"]


def test_the_slider_does_not_wait_for_models(library: FakeLibrary) -> None:
    words: Any = Measured(CURVE)
    there: Any = library
    with gr.Blocks() as page:
        threshold_section(lambda: words, lambda: there)
    assert [fn.queue for fn in page.fns.values()] == [False, False]
