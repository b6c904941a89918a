"""Same or different? The threshold's curve and the pairs next to it."""

import re
from typing import Any

import gradio as gr
import pytest

from earshot.tabs.words.compare import OUTCOMES, ThresholdSection
from tests.support.fake_words import FakeLibrary, FakeWords

CURVE = {"threshold": [0.2, 0.6, 0.9], "precision": [0.5, 0.9, 1.0], "recall": [1.0, 0.8, 0.3]}


class Measured(FakeWords):
    def __init__(self, curve: dict | None) -> None:
        self.operating_curve = curve


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> FakeLibrary:
    return FakeLibrary(tmp_path_factory.mktemp("library"))


def events_of(library: FakeLibrary, curve: dict | None = CURVE) -> ThresholdSection:
    words: Any = Measured(curve)
    there: Any = library
    with gr.Blocks():
        return ThresholdSection(lambda: words, lambda: there)


def panel_at(events: ThresholdSection, threshold: float) -> dict[str, Any]:
    answer = events.move(threshold)
    assert answer[events.message] == ""
    return answer[events.panel]


def test_first_look_starts_at_models_threshold(library: FakeLibrary) -> None:
    events = events_of(library)
    answer = events.first_look(0)
    assert (answer[events.message], answer[events.slider]) == (
        "",
        FakeWords.threshold,
    )
    html = answer[events.panel]["html"]
    assert (
        "<b>10</b>\nare not: false alarms" in html and "<b>20</b> are not called so: misses" in html
    )
    assert events.first_look(0.3)[events.slider] == 0.3


def test_move_shows_pairs_on_their_side(library: FakeLibrary) -> None:
    panel = panel_at(events_of(library), 0.5)
    sides = panel["html"].split('class="side"')[1:]
    assert [re.findall("<h4>(.*?)</h4>", side)[0] for side in sides] == [
        OUTCOMES[same, above] for above in (True, False) for same in (True, False)
    ]
    for above, side in zip((True, True, False, False), sides, strict=True):
        cosines = [float(number) for number in re.findall(r">(-?[\d.]+)</button></li>", side)]
        assert all((cosine >= 0.5) == above for cosine in cosines)
    numbers = {int(n) for pair in re.findall(r"@file(\d+)", panel["html"]) for n in [pair]}
    assert numbers == set(range(len(panel["files"])))


def test_move_without_measured_curve_says_so(library: FakeLibrary) -> None:
    panel = panel_at(events_of(library, None), 0.5)
    assert (
        "were not measured" in panel["html"]
        and "<svg viewBox=" not in panel["html"].split("side")[0]
    )
    assert panel["html"].count('class="side"') == 4


@pytest.mark.parametrize("threshold", [0.0, 1.0, float("nan")])
def test_move_to_any_threshold_shows_panel(library: FakeLibrary, threshold: float) -> None:
    assert f"{threshold:.2f}" in panel_at(events_of(library), threshold)["html"]


def test_slider_does_not_wait_in_queue(library: FakeLibrary) -> None:
    words: Any = Measured(CURVE)
    there: Any = library
    with gr.Blocks() as page:
        ThresholdSection(lambda: words, lambda: there)
    assert [fn.queue for fn in page.fns.values()] == [False, False]
